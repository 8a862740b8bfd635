import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnyMachine } from '../daemon/kernel/machine.ts'

const folder = fileURLToPath(new URL('../daemon/features/', import.meta.url))
const TABLE = /\/([\w-]+-)?(machine|proposal)\.ts$/

/** Every state table that the daemon obeys, by its noun: `machine.ts` and its like in the folders of the features. */
async function machines(): Promise<AnyMachine[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => TABLE.test(`/${file}`))
  const modules: Record<string, unknown>[] = await Promise.all(files.map((file) => import(join(folder, file))))
  const found = modules.flatMap((module) => Object.values(module)).filter(isMachine)
  return found.sort((a, b) => (a.noun < b.noun ? -1 : 1))
}

function isMachine(value: unknown): value is AnyMachine {
  return typeof value === 'object' && value !== null && 'noun' in value && 'transitions' in value
}

/** A state table as a Mermaid diagram. */
export function diagram({ transitions }: AnyMachine): string {
  const arrows = transitions.flatMap(({ from, to, event, by }) =>
    from.map((state) => `  ${state} --> ${to}: ${event} (${by.join(', ')})`),
  )
  return ['stateDiagram-v2', ...arrows].join('\n')
}

/** The state tables as a page: the same data that the daemon obeys and that its 409 answers name. */
export async function statesPage(): Promise<string> {
  const sections = (await machines()).map((machine) => {
    const title = machine.noun.charAt(0).toUpperCase() + machine.noun.slice(1)
    return `## ${title}\n\n\`\`\`mermaid\n${diagram(machine)}\n\`\`\`\n`
  })
  return [
    '# States',
    '',
    'Written by `npm run docs` from the state tables of `daemon/features/`. Each arrow names the event and who may make it happen; anything else is a 409 `invalid_transition` that says `from`, `to` and what is `allowed`. A thread is a negotiation until a price is accepted, then it goes where its job goes; a purchase opens it where its job is.',
    '',
    ...sections,
  ].join('\n')
}
