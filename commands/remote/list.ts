import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import { findDaemon } from '../../src/client/discover.ts'
import { listRemotes } from '../../src/client/remotes.ts'
import { adminKeyOf } from '../../src/client/secrets.ts'
import { LOCAL, readSettings } from '../../src/client/settings.ts'

type Row = {
  readonly name: string
  readonly url: string | null
  readonly network: string
  readonly protected: boolean
  readonly active: boolean
  readonly admin_key: string
  /** SHA-256 of the one certificate that it may show. */
  readonly fingerprint: string | null
  /** Whether keys go there over plain HTTP. */
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

export const command = defineCommand({
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
