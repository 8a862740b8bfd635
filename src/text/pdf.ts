/* Plain text as a PDF document: landscape A4, and a fixed-width font that every reader has, so none is embedded. */

const WIDTH = 842
const HEIGHT = 595
const MARGIN = 36
const FONT_SIZE = 8
const LINE_HEIGHT = 10
const PAGE_LINES = Math.floor((HEIGHT - 2 * MARGIN) / LINE_HEIGHT)
/** Catalog, list of pages and font come before the pages. */
const FIRST_PAGE_OBJECT = 4
const OFFSET_DIGITS = 10

export const MAX_PDF_PAGES = 1_000
export const MAX_PDF_LINES = MAX_PDF_PAGES * PAGE_LINES

/** A PDF 1.4 document with these lines. Characters outside Latin-1 become question marks. */
export function pdfOf(lines: readonly string[]): Uint8Array {
  const count = Math.max(1, Math.ceil(lines.length / PAGE_LINES))
  const pages = Array.from({ length: count }, (_, page) => lines.slice(page * PAGE_LINES, (page + 1) * PAGE_LINES))
  const kids = pages.map((_, page) => `${FIRST_PAGE_OBJECT + 2 * page} 0 R`)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${count} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((page, place) => [pageObject(FIRST_PAGE_OBJECT + 2 * place + 1), textObject(page)]),
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, place) => {
    const start = text.length
    text += `${place + 1} 0 obj\n${object}\nendobj\n`
    return start
  })
  const table = offsets.map((start) => `${String(start).padStart(OFFSET_DIGITS, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const end = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
  return Buffer.from(`${text}xref\n0 ${size}\n0000000000 65535 f \n${table}${end}`, 'latin1')
}

function pageObject(content: number): string {
  const box = `/MediaBox [0 0 ${WIDTH} ${HEIGHT}]`
  return `<< /Type /Page /Parent 2 0 R ${box} /Resources << /Font << /F1 3 0 R >> >> /Contents ${content} 0 R >>`
}

function textObject(lines: readonly string[]): string {
  const start = `BT /F1 ${FONT_SIZE} Tf ${LINE_HEIGHT} TL ${MARGIN} ${HEIGHT - MARGIN - LINE_HEIGHT} Td`
  const body = `${start}\n${lines.map((line) => `(${escaped(line)}) Tj T*\n`).join('')}ET`
  return `<< /Length ${body.length} >>\nstream\n${body}\nendstream`
}

function escaped(line: string): string {
  return line.replace(/[^\u0020-\u007e\u00a0-\u00ff]/gu, '?').replace(/[\\()]/g, '\\$&')
}
