//! x
mod measure;
mod random;
mod reference;
mod theirs;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let d = std::env::args().nth(1).unwrap();
    let rd = |f: &str| std::fs::read(format!("{d}/{f}")).unwrap();
    let mut r9 = [9u8; 32];
    r9[31] = 0;
    let mut p7 = [7u8; 32];
    p7[31] = 0;
    let sec: theirs::Secrets =
        [2717515777u64, 3195666434, 1781727235, 3726049284, 99].map(blstrs::Scalar::from);
    let w = reference::Post::window(&rd("window_vanilla.json"), r9, p7)?;
    let params = theirs::setup(w.circuit()?, &sec)?;
    let params = theirs::parse(&params)?;
    let proof = theirs::prove(w.circuit()?, &params, 5.into(), 6.into())?;
    println!("{}", w.verify(&params, &proof)?);
    let p = reference::Porep::new(&rd("phase1out.json"))?;
    let _ = p.circuit()?;
    let _ = reference::Post::winning(&rd("winning_vanilla.json"), r9, p7)?.circuit()?;
    Ok(())
}
