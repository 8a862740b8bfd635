import { defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { type HealthAnswer, readHealth } from '../src/cli/nouns/health.ts'
import * as z from '../src/cli/params.ts'
import { wordsOf } from '../src/client/call.ts'
import { isObject } from '../src/core/json.ts'
import { green, harmless, red } from '../src/text/text.ts'

export const command = defineCommand({
  name: 'openapi',
  heading: 'Health and interface',
  summary: 'print the OpenAPI description, or check it against the health report',
  args: z.object({}),
  options: z.object({
    check: z.boolean().default(false).meta({ description: 'compare with /health; exit 11 when they differ' }),
    yaml: z.boolean().default(false).meta({ description: 'print it as YAML' }),
  }),
  ownText: true, // YAML has lines; what is foreign in them is made harmless where they are printed
  examples: ['souk openapi', 'souk openapi --yaml', 'souk openapi --check', "souk openapi -q '.info.version'"],
  async run(context) {
    const session = await context.session()
    const { check, yaml } = context.options
    if (yaml && (check || context.io.settings.format !== 'human'))
      throw usage('--yaml is a form of its own: leave out the others.')
    const { body: document } = await session.send(wordsOf('getOpenapi', {}))
    if (yaml) return { yaml: await yamlOf(document) } satisfies Written
    if (!check) return document
    const problems = differences(document, await readHealth(session))
    if (problems.length > 0) context.exit('check_failed')
    return { checked: operationsOf(document).size, problems } satisfies Checked
  },
  view(data, io) {
    if (isWritten(data)) {
      for (const line of data.yaml.split('\n')) io.line(harmless(line))
      return
    }
    if (!isChecked(data)) {
      io.json(data)
      return
    }
    for (const problem of data.problems) io.line(`${red('✗')} ${harmless(problem)}`)
    if (data.problems.length === 0) io.line(`${green('✓')} ${data.checked} operations agree with the health report`)
  },
})

type Checked = { checked: number; problems: string[] }

type Written = { yaml: string }

function isWritten(data: unknown): data is Written {
  return isObject(data) && typeof data.yaml === 'string' && Object.keys(data).length === 1
}

async function yamlOf(document: unknown): Promise<string> {
  const { stringify } = await import('../src/cli/files/yaml.ts')
  // One line a text, whatever it holds: no line of a document looks like one of this program.
  const oneLine = { blockQuote: false, lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } as const
  return stringify(document, { aliasDuplicateObjects: false, ...oneLine }).trimEnd()
}

function isChecked(data: unknown): data is Checked {
  return isObject(data) && Array.isArray(data.problems)
}

/** `GET /v1/jobs/{id}` → its `x-status`. */
function operationsOf(document: unknown): Map<string, string | undefined> {
  const paths = isObject(document) && isObject(document.paths) ? document.paths : {}
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(isObject(methods) ? methods : {}).map(([method, operation]) => {
        const status = isObject(operation) ? operation['x-status'] : undefined
        return [`${method.toUpperCase()} ${path}`, typeof status === 'string' ? status : undefined] as const
      }),
    ),
  )
}

function differences(document: unknown, health: HealthAnswer): string[] {
  const operations = operationsOf(document)
  const version = isObject(document) ? document.openapi : undefined
  const wrongVersion = version === '3.1.0' ? [] : [`the description is OpenAPI ${String(version)}, not 3.1.0`]
  const rows = health.endpoints.flatMap(({ method, path, status }) => {
    const name = `${method} ${path.replace(/:([A-Za-z]+)/g, '{$1}')}`
    const described = operations.get(name)
    // Under the cutover, shelved rows are left out of the description on purpose.
    if (!operations.has(name)) return status === 'deferred' ? [] : [`${name} is ${status}, but not described`]
    return described === undefined || described === status ? [] : [`${name} is ${status}, described as ${described}`]
  })
  return [...wrongVersion, ...rows]
}
