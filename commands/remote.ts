import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { type HealthAnswer, readHealth } from '../src/cli/nouns/health.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { confirmName, openSession, type Session, wouldDo } from '../src/cli/session.ts'
import { checkCredentials } from '../src/cli/wallet/kept-credentials.ts'
import { findDaemon } from '../src/client/discover.ts'
import { getRemote, listRemotes, protectRemote, removeRemote } from '../src/client/remotes.ts'
import { adminKeyOf, dropSecrets } from '../src/client/secrets.ts'
import { changeSettings, LOCAL, readSettings } from '../src/client/settings.ts'
import { toWallet } from '../src/core/hex.ts'
import { bold, green, red, yellow } from '../src/text/text.ts'

type Check = { readonly id: string; readonly status: 'ok' | 'none' | 'problem'; readonly detail: string }
type Context = CommandContext<{ name?: string | undefined }, unknown>

const signs = { ok: green('✓'), none: yellow('–'), problem: red('✗') } as const
const ID_COLUMNS = 10

export const remoteCheck = defineCommand({
  name: 'remote check',
  summary: 'check a remote: reachable, unchanged, credentials valid',
  args: z.object({ name: z.text({ description: 'remote name or local (default: the one in use)' }) }),
  options: z.object({ exitStatus: z.flag({ description: 'exit with code 11 if there is a problem' }) }),
  examples: ['souk remote check', 'souk remote check local --exit-status --json'],
  async run(context) {
    const session = await sessionOf(context)
    const startedAt = context.io.now()
    const health = await readHealth(session)
    const took = context.io.now() - startedAt
    const checks: Check[] = [
      { id: 'answers', status: 'ok', detail: `${health.service} ${health.version}, ${health.status}, ${took} ms` },
      token(context, session, health),
      ...(await checkCredentials(session)),
    ]
    const problems = checks.filter(({ status }) => status === 'problem').length
    if (context.options.exitStatus && problems > 0) context.exit('check_failed')
    return { name: session.target.name, url: session.target.url, problems, checks }
  },
  rows: ({ checks }) => checks,
  view({ name, url, checks }, io) {
    io.line(`${bold(name)}   ${url}`)
    for (const { id, status, detail } of checks) io.line(`  ${signs[status]} ${id.padEnd(ID_COLUMNS)} ${detail}`)
  },
})

function sessionOf(context: Context): Promise<Session> {
  const { name } = context.args
  if (name === undefined) return context.session()
  const { baseUrl: _instead, ...globals } = context.globals
  return openSession({ ...context, globals: { ...globals, remote: name } })
}

/** Compares the instance's payment token with the token saved when the remote was added. */
function token({ places }: Context, { target }: Session, { chain }: HealthAnswer): Check {
  const known = target.name === LOCAL ? undefined : listRemotes(places).find(({ name }) => name === target.name)?.assets
  const asset = toWallet(chain.asset)
  if (known === undefined || known.includes(asset)) return { id: 'token', status: 'ok', detail: asset }
  return { id: 'token', status: 'problem', detail: `${asset} differs from the saved token: add the remote again` }
}

type Row = {
  readonly name: string
  readonly url: string | null
  readonly network: string
  readonly protected: boolean
  readonly active: boolean
  readonly admin_key: string
  /** SHA-256 of the pinned certificate. */
  readonly fingerprint: string | null
  /** Whether keys may be sent over plain HTTP. */
  readonly plain_credentials: boolean
}

const columns: readonly Column<Row>[] = [
  { title: 'NAME', value: ({ name, active }) => `${active ? '● ' : '  '}${name}`, plain: ({ name }) => name },
  { title: 'URL', value: ({ url }) => url },
  { title: 'NETWORK', value: ({ network }) => network },
  { title: 'PROTECTED', value: (row) => (row.protected ? 'yes' : 'no'), drop: 1 },
  { title: 'ADMIN KEY', value: ({ admin_key }) => admin_key, drop: 2 },
  { title: 'PINNED', value: ({ fingerprint }) => fingerprint, drop: 3, flexible: true },
]

export const remoteList = defineCommand({
  name: 'remote list',
  summary: 'list remotes and where their credentials are stored',
  examples: ['souk remote list', 'souk remote list --json'],
  like: {
    total: 1,
    remotes: [
      {
        name: '',
        url: '',
        network: '',
        protected: false,
        active: false,
        admin_key: '',
        fingerprint: '',
        plain_credentials: false,
      },
    ],
  },
  async run({ places, io }) {
    const active = readSettings(places).remote ?? LOCAL
    const found = await findDaemon(places)
    const local: Row = {
      name: LOCAL,
      url: found.state === 'running' ? found.registration.url : null,
      network: 'sandbox',
      protected: false,
      active: active === LOCAL,
      fingerprint: found.state === 'running' ? (found.registration.fingerprint ?? null) : null,
      plain_credentials: false,
      admin_key: found.state === 'running' ? io.path(`${found.registration.data_dir}/admin.key`) : 'none',
    }
    const others = listRemotes(places).map((remote) => ({
      name: remote.name,
      url: remote.url,
      network: remote.network,
      protected: remote.protected === true,
      active: active === remote.name,
      fingerprint: remote.fingerprint ?? null,
      plain_credentials: remote.plain_credentials === true,
      admin_key: adminKeyOf(places, remote.name) === undefined ? 'none' : io.path(`${places.config}/secrets.json`),
    }))
    return { total: others.length + 1, remotes: [local, ...others] }
  },
  rows: ({ remotes }) => remotes,
  columns,
  view: ({ remotes }, io) => printRows(io, columns, remotes),
})

export const remoteProtect = defineCommand({
  name: 'remote protect',
  summary: 'require typing the name of a remote before changes',
  args: z.object({ name: z.string().meta({ description: 'remote name' }) }),
  options: z.object({ off: z.flag({ description: 'remove the protection; the name must be typed to confirm' }) }),
  examples: ['souk remote protect shop', 'souk remote protect shop --off --confirm shop --json'],
  async run(context) {
    const { args, options, globals, places } = context
    const before = getRemote(places, args.name).protected === true
    wouldDo(globals, `${options.off ? 'remove the protection of' : 'protect'} ${args.name}`)
    if (before && options.off) {
      const { target } = await openSession({ ...context, globals: { ...globals, remote: args.name } })
      await confirmName(context, target, 'removes the protection of')
    }
    const remote = protectRemote(places, args.name, !options.off)
    return { name: remote.name, protected: remote.protected === true, changed: before === options.off }
  },
  view: ({ name, protected: is, changed }, io) =>
    io.line(`${green('✓')} ${bold(name)} is ${is ? '' : 'not '}protected${changed ? '' : '   (already so)'}`),
})

export const remoteRemove = defineCommand({
  name: 'remote remove',
  summary: 'remove a remote and its credentials',
  args: z.object({ name: z.string().meta({ description: 'remote name' }) }),
  examples: ['souk remote remove shop --yes', 'souk help remote remove'],
  async run({ args, globals, io, places }) {
    const remote = getRemote(places, args.name)
    wouldDo(globals, `remove ${remote.name} (${remote.url})`)
    await io.confirm(`Remove ${remote.name} (${remote.url}) and its admin credential?`)
    removeRemote(places, remote.name)
    dropSecrets(places, remote.name)
    if (readSettings(places).remote === remote.name) changeSettings(places, { remote: undefined })
    return { name: remote.name, url: remote.url }
  },
  view: ({ name }, io) => io.line(`${green('✓')} ${name} is removed`),
})

export const remoteShow = defineCommand({
  name: 'remote show',
  summary: 'show the current instance: status, network, token, id',
  examples: ['souk remote show', 'souk remote show --json'],
  async run(context) {
    const { target, ...session } = await context.session()
    const health = await readHealth({ target, ...session })
    const { service, version, status, network, pay_to, chain, instance_id } = health
    const { name, url, fingerprint = null } = target
    return { name, url, service, version, status, network, chain, pay_to, instance_id, fingerprint }
  },
  view({ name, url, version, status, network, chain, pay_to, instance_id, fingerprint }, io) {
    io.line(`${bold(name)}   ${url}   v${version}   ${status}`)
    io.line(`  settles   ${network} (${chain.mode}), asset ${chain.asset}`)
    io.line(`  paid to   ${pay_to}`)
    io.line(`  instance  ${instance_id}`)
    if (fingerprint !== null) io.line(`  pinned    ${fingerprint}`)
  },
})

export const remoteUse = defineCommand({
  name: 'remote use',
  summary: 'set the default remote',
  args: z.object({ name: z.string().meta({ description: 'remote name or local' }) }),
  examples: ['souk remote use local', 'souk remote use local --json'],
  async run({ args, globals, places }) {
    wouldDo(globals, `use ${args.name} by default`)
    const url = args.name === LOCAL ? null : getRemote(places, args.name).url
    changeSettings(places, { remote: args.name === LOCAL ? undefined : args.name })
    return { name: args.name, url }
  },
  view: ({ name, url }, io) => io.line(`${green('✓')} using ${bold(name)}${url === null ? '' : `   ${url}`}`),
})
