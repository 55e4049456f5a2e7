//! Draws grey images in a terminal: two rows of pixels a line, in half blocks, or one row a line in ASCII.

/// How pixels become characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Half-block characters: for a terminal in UTF-8.
    Blocks,
    /// Characters that are readable anywhere.
    Ascii,
}

/// The lines that show one image of `cols` columns. Pixels past the last whole row are left out.
pub(crate) fn image(pixels: &[u8], cols: usize, ink: Ink) -> Vec<String> {
    let rows: Vec<&[u8]> = pixels.chunks_exact(cols.max(1)).collect();
    match ink {
        Ink::Blocks => rows
            .chunks(2)
            .map(|pair| (0..cols).map(|c| half(pair[0][c], pair.get(1).map_or(0, |row| row[c]))).collect())
            .collect(),
        // A character is about twice as high as wide, so every second row gives the right proportions.
        Ink::Ascii => rows.iter().step_by(2).map(|row| row.iter().map(|&p| shade(p)).collect()).collect(),
    }
}

/// Puts blocks of lines side by side, each under its caption, `width` characters a block.
pub(crate) fn beside(blocks: &[(String, Vec<String>)], width: usize) -> String {
    let height = blocks.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
    let row = |cells: Vec<&str>| {
        let line: String = cells.iter().map(|cell| format!("{cell:width$}  ")).collect();
        format!("{}\n", line.trim_end())
    };
    let captions = row(blocks.iter().map(|(caption, _)| caption.as_str()).collect());
    let lines = (0..height).map(|i| row(blocks.iter().map(|(_, l)| l.get(i).map_or("", String::as_str)).collect()));
    captions + &lines.collect::<String>()
}

fn half(top: u8, bottom: u8) -> char {
    match (top > 127, bottom > 127) {
        (true, true) => '\u{2588}',
        (true, false) => '\u{2580}',
        (false, true) => '\u{2584}',
        (false, false) => ' ',
    }
}

fn shade(pixel: u8) -> char {
    const RAMP: &[u8] = b" .:-=+*#%@";
    char::from(RAMP[usize::from(pixel) * (RAMP.len() - 1) / 255])
}
