import { clientLines } from '../src/api/endpoint/x402.ts'
import { pricePromises } from '../src/api/price-promises.ts'
import { fixedActs } from '../src/tui/rebind.ts'
import { bindings, keysLabel } from '../src/tui/shell/bindings.ts'
import { endpointCommandTable, endpointTable } from './endpoint-commands.ts'
import { eventsPage } from './events.ts'
import { functionsPage } from './functions.ts'
import { commandsPage, exitCodesPage, listingFieldsPage, settingsPage } from './reference.ts'
import { statesPage } from './states.ts'

/** A page that is written whole, or the part of one between `<!-- part:start -->` and `<!-- part:end -->`. */
export type Generated = { readonly file: string; readonly part?: string; readonly text: () => string | Promise<string> }

/** What `npm run docs` writes of the documentation; a test fails when one of them is stale. */
export const generatedDocs: readonly Generated[] = [
  { file: 'docs/reference/endpoints.md', part: 'endpoints', text: endpointTable },
  { file: 'docs/reference/endpoints.md', part: 'commands', text: endpointCommandTable },
  { file: 'docs/reference/clients.md', part: 'clients', text: () => clientLines().join('\n') },
  { file: 'docs/reference/clients.md', part: 'prices', text: () => pricePromises.join('\n') },
  { file: 'docs/reference/cockpit.md', part: 'acts', text: actsTable },
  { file: 'docs/reference/states.md', text: statesPage },
  { file: 'docs/reference/events.md', text: eventsPage },
  { file: 'docs/reference/functions.md', text: functionsPage },
  { file: 'docs/reference/commands.md', text: commandsPage },
  { file: 'docs/reference/exit-codes.md', text: exitCodesPage },
  { file: 'docs/reference/settings.md', text: settingsPage },
  { file: 'docs/reference/listing-fields.md', text: listingFieldsPage },
]

/** The acts that may lie on other keys. */
function actsTable(): string {
  const rows = bindings
    .filter(({ action }) => !fixedActs.includes(action))
    .map((binding) => `| \`${binding.action}\` | ${keysLabel(binding).replaceAll('|', '\\|')} | ${binding.label} |`)
  return ['| Act | Keys | What it does |', '|---|---|---|', ...rows].join('\n')
}

/** @throws Error when the page has no such part. */
export function withPart(page: string, { file, part }: Generated, text: string): string {
  if (part === undefined) return text
  const [before, rest] = cut(page, `<!-- ${part}:start -->`)
  const [, after] = cut(rest, `<!-- ${part}:end -->`)
  if (after === undefined) throw new Error(`${file} has no part ${part}`)
  return `${before}<!-- ${part}:start -->\n${text}\n<!-- ${part}:end -->${after}`
}

function cut(text = '', mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)]
}
