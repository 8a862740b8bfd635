/** Markup that is safe to serve. Only `html` creates it, and `html` escapes its input. */
declare const escaped: unique symbol
export type Html = { readonly [escaped]: true; readonly markup: string }

type Piece = string | number | Html | readonly Html[] | null | undefined

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** C0 and C1 control characters except tab and newlines, and bidirectional controls (decisions §12). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: - the pattern has to match them
const UNSHOWN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Builds markup from a template: escapes text and numbers, nests markup as is. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  const markup = strings.reduce((made, text, at) => made + markupOf(pieces[at - 1]) + text)
  return { markup } as Html // the brand is of the type alone
}

function markupOf(piece: Piece): string {
  if (piece === null || piece === undefined) return ''
  if (typeof piece === 'string' || typeof piece === 'number') return escapeText(String(piece))
  return 'markup' in piece ? piece.markup : piece.map(({ markup }) => markup).join('')
}

function escapeText(text: string): string {
  return text.replace(UNSHOWN, '\ufffd').replace(/[&<>"']/g, (character) => entities[character] as string)
}

/** A self-contained page without scripts or external styles. */
export function page({ title, body }: { readonly title: string; readonly body: Html }): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}

/** A table of names and values; an undefined value gives an empty cell. */
export function factTable(facts: Readonly<Record<string, string | number | undefined>>): Html {
  const rows = Object.entries(facts).map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`,
  )
  return html`<table>
${rows}</table>`
}
