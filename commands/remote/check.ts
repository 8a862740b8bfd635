import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { type HealthAnswer, readHealth } from '../../src/cli/nouns/health.ts'
import * as z from '../../src/cli/params.ts'
import { openSession, type Session } from '../../src/cli/session.ts'
import { checkCredentials } from '../../src/cli/wallet/kept-credentials.ts'
import { listRemotes } from '../../src/client/remotes.ts'
import { LOCAL } from '../../src/client/settings.ts'
import { toWallet } from '../../src/core/hex.ts'
import { bold, green, red, yellow } from '../../src/text/text.ts'

type Check = { readonly id: string; readonly status: 'ok' | 'none' | 'problem'; readonly detail: string }
type Host = CommandContext<{ name?: string | undefined }, unknown>

const signs = { ok: green('✓'), none: yellow('–'), problem: red('✗') } as const
const ID_COLUMNS = 10

export const command = defineCommand({
  name: 'remote check',
  summary: 'check a remote: reachable, unchanged, credentials valid',
  args: z.object({
    name: z.string().optional().meta({ description: 'remote name or local (default: the one in use)' }),
  }),
  options: z.object({
    exitStatus: z.boolean().default(false).meta({ description: 'exit with code 11 if there is a problem' }),
  }),
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

function sessionOf(context: Host): Promise<Session> {
  const { name } = context.args
  if (name === undefined) return context.session()
  const { baseUrl: _instead, ...globals } = context.globals
  return openSession({ ...context, globals: { ...globals, remote: name } })
}

/** What is signed for there was learnt when the remote was added. */
function token({ places }: Host, { target }: Session, { chain }: HealthAnswer): Check {
  const known = target.name === LOCAL ? undefined : listRemotes(places).find(({ name }) => name === target.name)?.assets
  const asset = toWallet(chain.asset)
  if (known === undefined || known.includes(asset)) return { id: 'token', status: 'ok', detail: asset }
  return { id: 'token', status: 'problem', detail: `${asset} is not the one that was learnt: add the remote again` }
}
