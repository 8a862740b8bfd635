// What stands in the bundle where packages that draw ask ICU about every piece of text: its tables take 25 ms to load,
// a tenth of the cockpit's first frame, which holds nothing that needs them. Text that does is left to the originals.

/**
 * Characters that are a grapheme and a column each, whatever stands beside them: ASCII, Latin, signs of punctuation,
 * arrows, mathematics, boxes, blocks, hooks and dots. None joins another or is ever drawn as a wide picture.
 */
const NARROW = String.raw` -~\u00A0-\u00AC\u00AE-\u02FF\u2010-\u2027\u2030-\u205E\u2190-\u2311\u2500-\u25FC\u2713-\u2718\u2800-\u28FF`
const ALL_NARROW = new RegExp(`^[${NARROW}]*$`)
/** Controls are graphemes too, but for a carriage return, which keeps its line feed. */
const ALL_SINGLE = new RegExp(String.raw`^[${NARROW}\u0000-\u000C\u000E-\u001F\u007F]*$`)

/** Whether a text is as many columns wide as it has characters. */
export function isNarrow(text: string): boolean {
  return ALL_NARROW.test(text)
}

type Grapheme = Pick<Intl.SegmentData, 'segment' | 'index'>
let segmenter: Intl.Segmenter | undefined

/** `Intl.Segmenter` of graphemes, which is made when a text needs it. */
export const graphemes = {
  segment(text: string): Iterable<Grapheme> {
    if (ALL_SINGLE.test(text)) return Array.from(text, (segment, index) => ({ segment, index }))
    segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
    return segmenter.segment(text)
  },
}
