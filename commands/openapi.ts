import { defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { type HealthAnswer, readHealth } from '../src/cli/nouns/health.ts'
import { type OpenApiDocument, operationsOf, readOpenApi } from '../src/cli/nouns/interface/openapi.ts'
import * as z from '../src/cli/params.ts'
import { green, harmless, red } from '../src/text/text.ts'

export const command = defineCommand({
  name: 'openapi',
  heading: 'Health and interface',
  summary: 'print the OpenAPI description, or compare it with the health report',
  options: z.object({
    check: z.flag({ description: 'compare with /health; exit with code 11 if they differ' }),
    yaml: z.flag({ description: 'print it as YAML' }),
  }),
  ownText: true, // YAML has lines; untrusted text in them is escaped when printed
  examples: ['souk openapi', 'souk openapi --yaml', 'souk openapi --check', "souk openapi -q '.info.version'"],
  /** Returns the OpenAPI description; with --check, the number of operations and their differences from /health. */
  async run(context): Promise<OpenApiDocument | Checked | Written> {
    const session = await context.session()
    const { check, yaml } = context.options
    if (yaml && (check || context.io.settings.format !== 'human'))
      throw usage('--yaml cannot be combined with other output flags.')
    const document = await readOpenApi(session)
    if (yaml) return { yaml: await yamlOf(document) }
    if (!check) return document
    const problems = differences(document, await readHealth(session))
    if (problems.length > 0) context.exit('check_failed')
    return { checked: operationsOf(document).size, problems }
  },
  view(data, io) {
    if ('yaml' in data) {
      for (const line of data.yaml.split('\n')) io.line(harmless(line))
      return
    }
    if ('paths' in data) return io.json(data)
    for (const problem of data.problems) io.line(`${red('✗')} ${harmless(problem)}`)
    if (data.problems.length === 0) io.line(`${green('✓')} ${data.checked} operations agree with the health report`)
  },
})

type Checked = { checked: number; problems: string[] }

type Written = { yaml: string }

async function yamlOf(document: OpenApiDocument): Promise<string> {
  const { stringify } = await import('../src/cli/files/yaml.ts')
  // Each string stays on one line, so that no document can imitate this program's output.
  const oneLine = { blockQuote: false, lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } as const
  return stringify(document, { aliasDuplicateObjects: false, ...oneLine }).trimEnd()
}

function differences(document: OpenApiDocument, health: HealthAnswer): string[] {
  const operations = operationsOf(document)
  const { openapi: version } = document
  const wrongVersion = version === '3.1.0' ? [] : [`the description is OpenAPI ${version}, not 3.1.0`]
  const rows = health.endpoints.flatMap(({ method, path, status }) => {
    const name = `${method} ${path.replace(/:([A-Za-z]+)/g, '{$1}')}`
    const described = operations.get(name)?.['x-status']
    // During the checkout v2 cutover, the description omits deferred endpoints on purpose.
    if (!operations.has(name)) return status === 'deferred' ? [] : [`${name} is ${status}, but not described`]
    return described === undefined || described === status
      ? []
      : [`${name} is ${status}, described as ${JSON.stringify(described)}`]
  })
  return [...wrongVersion, ...rows]
}
