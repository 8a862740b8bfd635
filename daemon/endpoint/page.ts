import { type Html, html } from './html.ts'

/** A served page: whole in itself, without script and style, so that every browser and reader can show it. */
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

/** Facts as a table of names and values; what is undefined has an empty cell. */
export function factTable(facts: Readonly<Record<string, string | number | undefined>>): Html {
  const rows = Object.entries(facts).map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`,
  )
  return html`<table>
${rows}</table>`
}
