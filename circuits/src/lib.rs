//! Filecoin's production circuits and their inputs: PoRep, WinningPoSt, WindowPoSt, SnapDeals.
