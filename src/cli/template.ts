import { Liquid } from 'liquidjs'
import { isObject } from '../core/json.ts'
import { oneLine } from '../text/text.ts'
import { usage } from './exit.ts'

/** Characters of a template; steps and characters of what it makes; milliseconds that it may take. */
const TEMPLATE_CHARS_MAX = 64 * 1024
const MEMORY_UNITS_MAX = 64 * 1024 * 1024
const RENDER_MS_MAX = 5_000

// Nothing but what is handed in: no files, no prototypes, and no word that is silently nothing.
const engine = new Liquid({
  templates: {},
  ownPropertyOnly: true,
  strictFilters: true,
  strictVariables: true,
  lenientIf: true,
  parseLimit: TEMPLATE_CHARS_MAX,
  memoryLimit: MEMORY_UNITS_MAX,
  renderLimit: RENDER_MS_MAX,
})

/**
 * `-t`: a Liquid template filled with what a command answers; what is no object is called `items`.
 * @throws CliError usage that says where the template is wrong
 */
export function rendered(template: string, value: unknown): string {
  // Shells hand \\n over as it is typed.
  const text = template.replaceAll('\\n', '\n').replaceAll('\\t', '\t')
  const members = isObject(value) ? value : { items: value }
  try {
    return String(engine.parseAndRenderSync(text, plain(members)))
  } catch (error) {
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw usage(`The template fails: ${oneLine(sentence)}.`, {
      facts: [`there is: ${Object.keys(members).join(', ')}`],
      next: ['souk help formatting'],
      cause: error,
    })
  }
}

/** As JSON would carry it: amounts as text. */
function plain(value: unknown): object {
  return JSON.parse(JSON.stringify(value, (_name, member) => (typeof member === 'bigint' ? String(member) : member)))
}
