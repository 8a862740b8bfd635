import type { Request } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { DOCUMENT, readDocument, readObjectFile, textOf, unjudged } from '../../src/cli/files/document.ts'
import { exampleOf, exampleOption } from '../../src/cli/files/examples.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { isJsonObject, parseJson } from '../../src/core/json.ts'
import { compact } from '../../src/core/record.ts'
import { posting as noun } from '../../src/nouns/postings.ts'

type Body = Request<Api['createPosting']>['body']

const options = z.object({
  file: z
    .string()
    .optional()
    .meta({ short: 'f', description: `${DOCUMENT} of the request, - for stdin`, value: 'file' }),
  example: exampleOption,
  title: z.string().optional().meta({ description: 'title of the request', value: 'text' }),
  brief: z.string().optional().meta({ description: 'details: JSON object or text', value: 'text' }),
  briefFile: z
    .string()
    .optional()
    .meta({ description: 'file with the details (text, YAML or JSON), - for stdin', value: 'file' }),
  budget: z.number().optional().meta({ description: 'highest price to pay', value: 'usd' }),
  minBudget: z.number().optional().meta({ description: 'lowest price', value: 'usd' }),
  category: z.string().optional().meta({ description: 'category of the request', value: 'name' }),
  deadline: z
    .string()
    .optional()
    .meta({ description: 'deadline for the award, at most 30 days from now', value: 'time' }),
  parentJob: z.string().optional().meta({ description: 'your job that this is a subtask of', value: 'job' }),
})
type Host = CommandContext<unknown, z.output<typeof options>>

export const command = defineCommand({
  name: 'requests create',
  summary: 'create a request for work that providers can bid on',
  aliases: ['postings create'],
  args: z.object({}),
  options,
  examples: [
    'souk requests create --example',
    'souk requests create --title "Translate a page" --brief "One page into German" --budget 20',
    `souk requests create --title Logo --brief '{"style":"plain"}' --budget 15 --min-budget 5 --category design --json`,
  ],
  async run(context) {
    const { file, example, title, budget, minBudget, category, deadline, parentJob } = context.options
    if (example) return { example: exampleOf('request').trimEnd().split('\n') }
    const given = file === undefined ? undefined : await readObjectFile(context.io, file, 'the request')
    if (given === undefined && (title === undefined || budget === undefined))
      throw usage('A request needs --title and --budget, or --file.')
    const said = {
      title,
      budget_max_usd: budget,
      budget_min_usd: minBudget,
      category,
      deadline,
      parent_job_id: parentJob,
    }
    const isBriefSaid = context.options.brief !== undefined || context.options.briefFile !== undefined
    const brief = given === undefined || isBriefSaid ? { brief: await readBrief(context) } : {}
    const body = unjudged<Body>({ ...given, ...compact(said), ...brief })
    const session = await context.session()
    return session.call('createPosting', { body })
  },
  view(posting, io) {
    if ('example' in posting) for (const line of posting.example) io.line(line)
    else showNoun(noun, posting, io)
  },
})

/** Text that is no JSON object is the whole brief, as its `text`. */
async function readBrief({ io, options: { brief, briefFile } }: Host): Promise<Body['brief']> {
  if ((brief === undefined) === (briefFile === undefined)) throw usage('Say what is wanted by --brief or --brief-file.')
  // Prose reads as YAML too (`Wanted: a logo`), and means itself: only a file that calls itself so is more than text.
  if (briefFile !== undefined && /\.(ya?ml|json)$/i.test(briefFile)) {
    const document = await readDocument(io, briefFile)
    return isJsonObject(document) ? document : { text: String(document) }
  }
  const text = brief ?? (briefFile === '-' ? await io.stdin() : textOf(briefFile ?? ''))
  try {
    const value = parseJson(text)
    if (isJsonObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return { text }
}
