import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError } from '../cli/exit.ts'
import type { Session } from '../cli/session.ts'
import { apiKeyOf, keepApiKey } from '../client/secrets.ts'
import { joinCast, type Opened } from './cast.ts'
import type { Stage } from './hand.ts'
import { keepWallet } from './seed.ts'

type Context = Pick<CommandContext<unknown, unknown>, 'places' | 'io'>

/** The selected instance as a stage. @throws CliError `conflict` unless the instance's chain is the sandbox */
export async function sandboxStage({ io }: Pick<Context, 'io'>, session: Session): Promise<Stage> {
  const { target } = session
  const { chain } = await session.call('getHealth', {})
  if (chain.mode !== 'sandbox') {
    throw new CliError('conflict', `This command needs test money; ${target.name} is on ${chain.mode}.`)
  }
  const { authorization = '' } = await session.adminHeaders()
  return {
    url: target.url,
    fingerprint: target.fingerprint,
    inTheClear: target.inTheClear,
    adminKey: authorization.replace(/^Bearer /, ''),
    wall: io.now,
  }
}

/** Registers the demo users at the selected instance if needed. Keeps their wallets and API keys on this machine. */
export async function castAt(host: Context, session: Session): Promise<Opened & { readonly stage: Stage }> {
  const { places, io } = host
  const { target } = session
  const stage = await sandboxStage(host, session)
  const opened = await joinCast(stage, (address) => apiKeyOf(places, target.instance, address))
  for (const { name, address, key } of Object.values(opened.cast)) {
    await keepWallet(places, name, new Date(io.now()).toISOString())
    if (apiKeyOf(places, target.instance, address) !== key)
      keepApiKey(places, target.instance, { wallet: address, key })
  }
  return { ...opened, stage }
}

export async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-market-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function* withFolder<T>(use: (folder: string) => AsyncIterable<T>): AsyncGenerator<T> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-market-'))
  try {
    yield* use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
