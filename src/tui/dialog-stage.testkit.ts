import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { joinAsRemote } from '../../fixtures/kit/remote-market.ts'
import { type Escrow, openEscrow } from '../../fixtures/market/escrow.ts'
import type { Person } from '../../fixtures/market/people.ts'
import { splitWords } from '../cli/split-words.ts'
import { passedOn, readAnswer } from '../client/call.ts'
import type { Link } from '../client/link.ts'
import { fakeClock, fakeLink } from './cockpit.testkit.tsx'
import { createHost } from './host.ts'
import type { DialogSpec } from './shell/dialog.ts'
import { readHealth } from './shell/health.ts'
import type { CommandLine, Host } from './shell/screen.ts'

/* A marketplace with people in it, a cockpit's host in front of it, and a shell with a home that knows it as `shop`. */

const exec = promisify(execFile)

export type PersonAt = { readonly id: string; readonly wallet: string; readonly name: string }

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each read by the test that asked
type Json = any

export type DialogStage = {
  readonly escrow: Escrow
  readonly buyer: Person
  /** A listing of lingua. */
  readonly listing: string
  /** The interface itself, by the administrator's key or by that of somebody. */
  readonly host: (as?: string) => Promise<Host>
  readonly commandLine: CommandLine
  readonly party: (name: string) => PersonAt
  /** Somebody new with a wallet in the home. */
  readonly somebody: () => Promise<PersonAt>
  readonly ask: (path: string) => Promise<Json>
  readonly tell: (method: string, path: string, body: object) => Promise<Json>
  readonly json: (...words: string[]) => Promise<Json>
  /** How many acts of administrators there are. */
  readonly acts: () => Promise<number>
  /** What they did since there were so many. */
  readonly actsSince: (count: number) => Promise<unknown>
  readonly threadSays: (id: string) => Promise<unknown>
  readonly isSuspended: (id: string) => Promise<boolean>
  /** Messages that came to lingua's endpoint. */
  readonly received: () => number
  readonly deliveries: () => Promise<readonly Json[]>
  /** Runs a line as a shell does, as whoever's key the cockpit has. */
  readonly shell: (line: string, as?: string) => Promise<unknown>
  readonly folder: string
  readonly close: () => Promise<void>
}

/** The dialog that stands open. */
export function shownDialog(host: Host): DialogSpec {
  const { dialog } = host.ui.get()
  if (dialog === undefined) throw new Error('no dialog stands open')
  return dialog.spec
}

/** @param path where programs are looked for */
export async function openStage(path = ''): Promise<DialogStage> {
  const escrow = await openEscrow()
  const shop = await joinAsRemote(escrow.market)
  const keys = new Map<string, string>()
  const parties = new Map<string, PersonAt>()
  async function register(name: string, webhook: readonly string[] = []): Promise<PersonAt> {
    await shop.json(['wallet', 'new', name])
    await shop.json(['wallet', 'fund', name, '--amount', '20.00'])
    const words = ['account', 'register', '--role', 'both', '--name', name, '--as', name, ...webhook]
    const { participant_id: id, api_key: key, wallet } = await shop.json(words)
    keys.set(name, key)
    parties.set(name, { id, wallet, name })
    return { id, wallet, name }
  }
  await register('acme')
  await register('lingua', ['--webhook', escrow.hook.url])
  const listing = ['name=Portrait', 'description=Drawn', 'pricing_model=quote_required', 'fulfillment_type=human']
  const sets = listing.flatMap((one) => ['--set', one])
  const { id: listed } = await shop.json(['services', 'create', ...sets, '--as', 'lingua'])
  const ask: DialogStage['ask'] = async (path) => (await escrow.market.admin('GET', path)).body
  const run = await shellOf(shop.home, path)
  const commandLine: CommandLine = {
    commands: [],
    split: splitWords,
    complete: async () => [],
    run: async (words) => {
      await exec(process.execPath, [PROGRAM, ...words], { env: run.env, cwd: shop.home })
      return { ok: true, value: 'It is done.' }
    },
  }
  return {
    escrow,
    buyer: await escrow.agent(),
    listing: listed,
    commandLine,
    folder: shop.home,
    host: (as) => askedHost(linkOf(escrow, as === undefined ? undefined : keys.get(as)), commandLine),
    party(name) {
      const found = parties.get(name)
      if (found === undefined) throw new Error(`no ${name}`)
      return found
    },
    somebody: () => register(`somebody-${parties.size}`),
    ask,
    tell: async (method, path, body) => (await escrow.market.admin(method, path, { body })).body,
    json: (...words) => shop.json(words),
    async actsSince(count) {
      const { acts, total } = await ask('/dashboard/api/admin/log?limit=50')
      return acts
        .slice(0, total - count)
        .map(({ act, changed, reason, subject, detail }: Json) => [act, changed, reason, subject.kind, keysOf(detail)])
    },
    acts: async () => (await ask('/dashboard/api/admin/log?limit=1')).total,
    async threadSays(id) {
      const { status, proposal, messages, job_id: job } = await ask(`/dashboard/api/admin/threads/${id}`)
      return { status, proposal, messages, job }
    },
    isSuspended: async (id) =>
      (await ask(`/dashboard/api/admin/participants?filter=${id}`)).participants[0].suspended_at !== null,
    received: () => escrow.hook.received.length,
    deliveries: async () => {
      const { deliveries } = await ask(`/dashboard/api/admin/webhooks?participant=${parties.get('lingua')?.id}`)
      return deliveries
    },
    shell: run.shell,
    close: () => escrow.close(),
  }
}

const keysOf = (detail: object) => Object.keys(detail).toSorted()

/** The interface itself, asked as the administrator or by an API key. */
function linkOf({ market }: Escrow, key: string | undefined): Link {
  const headers: Record<string, string> = key === undefined ? {} : { 'X-API-Key': key }
  return {
    ...fakeLink({}, { name: 'shop', guarded: false, option: '-r shop' }),
    async call(name, asked) {
      const { method, path, query = {}, body } = passedOn(name, asked)
      const text = new URLSearchParams(
        Object.entries(query).map(([one, value]): [string, string] => [one, String(value)]),
      ).toString()
      const url = text === '' ? path : `${path}?${text}`
      const options = { headers, ...(body === undefined ? {} : { body }) }
      const answer = await (key === undefined ? market.admin : market.call)(method, url, options)
      if (answer.status < 400) return { ok: true, value: await readAnswer(name, answer.body) }
      return { ok: false, problem: { kind: 'failed', sentence: answer.body.message, facts: [], next: [] } }
    },
  }
}

async function askedHost(link: Link, commandLine: CommandLine): Promise<Host> {
  const health = await link.call('getHealth', {})
  if (!health.ok) throw new Error(health.problem.sentence)
  return { ...hostOf(link, commandLine), health: () => readHealth(health.value) }
}

export function hostOf(link: Link, commandLine: CommandLine): Host {
  const more = { screen: 'overview', refreshMs: 2_000, readonly: false, frameGapMs: 0, copy: () => undefined } as const
  return createHost({ link, clock: fakeClock(), snapshot: undefined, commandLine, ...more })
}

/** A shell in which `souk` is the built program, and asks nothing. */
async function shellOf(home: string, path: string) {
  const folder = join(home, 'bin')
  const program = join(folder, 'souk')
  await mkdir(folder, { recursive: true })
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@" --yes --confirm shop\n`)
  await chmod(program, 0o700)
  const env = { HOME: home, PATH: `${folder}:${path}`, SOUK_NO_INPUT: '1' }
  return {
    env: { ...env, SOUK_REMOTE: 'shop' },
    shell: (line: string, as?: string) =>
      exec('/bin/sh', ['-c', line], { env: as === undefined ? env : { ...env, SOUK_AS: as }, cwd: home }),
  }
}
