import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Marketplace, openMarketplace } from '../fixtures/marketplace.ts'
import { type Ran, type RunOptions, runLine } from '../src/cli/command-line.testkit.ts'
import { groups } from './groups.ts'
import { entries } from './index.ts'

/** A marketplace that the command line knows as the remote `shop`, admin credential included. */
export type RemoteMarket = {
  readonly market: Marketplace
  readonly home: string
  readonly souk: (words: readonly string[], options?: RunOptions) => Promise<Ran>
  /** The same with `--json`, parsed. @throws Error with what was said when it fails. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each read by the test that asked
  readonly json: (words: readonly string[], options?: RunOptions) => Promise<any>
}

export async function openRemoteMarket(): Promise<RemoteMarket> {
  const market = await openMarketplace()
  const home = join(market.dir, 'home')
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    TMPDIR: market.dir,
    SOUK_NO_INPUT: '1',
    XDG_RUNTIME_DIR: '',
    XDG_CONFIG_HOME: '',
  }
  const run = (words: readonly string[], options: RunOptions = {}) =>
    runLine({ entries, groups }, words, { now: () => Date.now(), ...options, env: { ...env, ...options.env } })
  const key = await readFile(join(market.dir, 'admin.key'), 'utf8')
  const added = await run(['remote', 'add', 'shop', market.url(), '--admin-key-stdin'], { stdin: key })
  if (added.code !== 0) throw new Error(added.err)
  const souk: RemoteMarket['souk'] = (words, options) =>
    run(words, { ...options, env: { SOUK_REMOTE: 'shop', ...options?.env } })
  return {
    market,
    home,
    souk,
    async json(words, options) {
      const { code, out, err } = await souk([...words, '--json'], options)
      if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
      return JSON.parse(out)
    },
  }
}
