import { endpoints } from '../../client/endpoints.ts'
import { listRemotes } from '../../client/remotes.ts'
import { LOCAL } from '../../client/settings.ts'
import { listWallets } from '../../client/wallets.ts'
import { eventTypes } from '../../model/event-types.ts'
import { attentionKinds } from '../../model/words.ts'
import { attentionMeans } from '../../nouns/attention.ts'
import type { CommandContext } from '../command.ts'
import { type Asker, type Kind, kindOfArgument, kindOfOption, kinds } from '../naming/kinds.ts'
import { idOf, plainName } from '../naming/resolve.ts'
import type { Candidate, WantedValues } from '../run/completion.ts'
import { topics } from '../run/help-topics.ts'
import { allKept, choicesOf } from './config.ts'
import { inputChoices, inputNames } from './services/input.ts'

type Context = CommandContext<unknown, unknown>
type Source = (host: Context, wanted: WantedValues) => readonly Candidate[] | Promise<readonly Candidate[]>

/** Completion values of a positional or an option. @throws the error of a failed request */
export async function offered(host: Context, wanted: WantedValues): Promise<readonly Candidate[]> {
  const name = wanted.command?.name ?? ''
  const [noun = ''] = name.split(' ')
  const word = wanted.isOption ? `--${wanted.member}` : wanted.member
  const source = sources[`${name} ${word}`] ?? sources[`${noun} ${word}`] ?? sources[word]
  if (source) return source(host, wanted)
  const kind = wanted.isOption ? kindOfOption(wanted.member) : kindOfArgument(wanted.member)
  return kind ? ofKind({ ...host, asAdmin: noun === 'admin' }, kind, wanted) : []
}

/** Completes ids, with descriptions. If the typed text is not the beginning of an id, completes names. */
async function ofKind(asker: Asker, kind: Kind, { begun }: WantedValues): Promise<readonly Candidate[]> {
  const known = await kind.known(asker)
  const isId = begun === '' || begun.startsWith(kind.prefix === '' ? '0x' : kind.prefix)
  if (isId || !kind.isNamed) return known.map(({ id, summary }) => ({ value: id, summary }))
  return known.flatMap(({ id, names }) => names.map((name) => ({ value: typedName(name, begun), summary: id })))
}

/** A name for completion. Blanks become underscores, unless the user has already typed the name with blanks. */
function typedName(name: string, begun: string): string {
  return name.startsWith(begun) && !/\s/.test(name) ? name : plainName(name).replaceAll(' ', '_')
}

const plain = (values: readonly string[]): readonly Candidate[] => values.map((value) => ({ value, summary: '' }))

const wallets: Source = ({ places }) =>
  listWallets(places).map(({ name, address }) => ({ value: name, summary: address }))

const remotes: Source = ({ places }) => [
  { value: LOCAL, summary: 'the daemon of this machine' },
  ...listRemotes(places).map(({ name, url }) => ({ value: name, summary: url })),
]

const topicsAndCommands: Source = ({ entries }, { before }) => {
  const shown = entries.filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined)
  const lead = before.map((word) => `${word} `).join('')
  const next = shown
    .filter(({ name }) => name.startsWith(lead))
    .map(({ name }) => name.slice(lead.length).split(' ')[0])
  const words = [...new Set(next)].flatMap((value) => value ?? [])
  return [
    ...(before.length === 0 ? Object.keys(topics).map((value) => ({ value, summary: 'topic' })) : []),
    ...plain(words),
  ]
}

const events: Source = () => Object.entries(eventTypes).map(([value, summary]) => ({ value, summary }))

const problems = attentionKinds.map((kind) => ({ value: `attention.${kind}`, summary: attentionMeans[kind] }))

/** Comma-separated values. */
const listOf =
  (source: Source): Source =>
  async (host, wanted) => {
    const at = wanted.begun.lastIndexOf(',') + 1
    const lead = wanted.begun.slice(0, at)
    const found = await source(host, { ...wanted, begun: wanted.begun.slice(at) })
    return found.map((one) => ({ ...one, value: lead + one.value }))
  }

const eventPatterns: Source = async (host, wanted) => {
  const families = [...new Set(Object.keys(eventTypes).map((type) => `${type.split('.')[0]}.*`))]
  return [...plain(families), ...(await events(host, wanted))]
}

/** Completes the names of a service's input members; after `=`, the values of a member. */
const inputs: Source = async (host, { before, begun }) => {
  const [typed] = before
  if (typed === undefined) return []
  const session = await host.session()
  const id = await idOf({ ...host, asAdmin: false }, kinds.service, typed)
  const { input_schema: schema } = await session.call('getService', { params: { id } })
  const at = begun.indexOf('=')
  if (at < 0) return inputNames(schema).map(({ name, summary }) => ({ value: `${name}=`, summary }))
  const name = begun.slice(0, at)
  return plain(inputChoices(schema, name).map((choice) => `${name}=${choice}`))
}

const listingFields: Source = async () => {
  const { listingFields: fields } = await import('../../api/sections/services.ts')
  return plain(Object.keys(fields).map((name) => `${name}=`))
}

const features: Source = async (host) => {
  const { features: found } = await (await host.session()).call('getFeatures', {})
  return [...plain(['checkout_v2', 'terms_required']), ...found.map(({ name }) => ({ value: name, summary: '' }))]
}

const rows: Source = () =>
  [...new Set(Object.values(endpoints).map(([, path]) => path))].map((value) => ({ value, summary: '' }))

const blank: WantedValues = { command: undefined, member: '', isOption: false, before: [], begun: '' }

/** Ids of jobs and conversations, which `why` can explain. */
const storied: Source = async (host, wanted) => {
  const asker = { ...host, asAdmin: false }
  return (await Promise.all([kinds.job, kinds.thread].map((kind) => ofKind(asker, kind, wanted)))).flat()
}

const untils: Source = async (host) => {
  const { crons } = await (await host.session()).call('listCrons', {})
  return plain(['next-cron', ...crons.map(({ name }) => name)])
}

const keys: Source = (host) => allKept(host).map(({ key, summary }) => ({ value: key, summary }))

/** Where completion values come from. A key is command and parameter, noun and parameter, or only the parameter. */
const sources: Readonly<Record<string, Source>> = {
  '--as': wallets,
  'wallet name': wallets,
  'wallet who': wallets,
  '--remote': remotes,
  '--until': untils,
  'remote name': remotes,
  'config key': keys,
  'config value': (_host, { before: [key = ''] }) => plain(choicesOf(key)),
  'help words': topicsAndCommands,
  'man words': topicsAndCommands,
  'trigger event': async (host, wanted) => [...(await events(host, wanted)), ...problems],
  '--events': listOf(eventPatterns),
  'services --input': inputs,
  'services --set': listingFields,
  'admin features set name': features,
  'api target': (host, { begun }) => (begun.startsWith('/') ? rows(host, blank) : plain(Object.keys(endpoints))),
  'endpoints path': rows,
  'why id': storied,
  'logs --job': (host, wanted) => ofKind({ ...host, asAdmin: false }, kinds.job, wanted),
  'logs --source': () => plain(['http', 'cron', 'webhook', 'x402', 'store']),
}
