/**
 * A text as a cell of CSV, always between quotes. A cell that begins like a formula would be run by a spreadsheet: it
 * gets an apostrophe in front, and so does one whose beginning a spreadsheet would take away first.
 */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
