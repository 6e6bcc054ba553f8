//! Groth16 over BLS12-381 in Filecoin's file formats: setup, parameters, proving, verifying.
