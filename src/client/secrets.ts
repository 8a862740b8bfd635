import { join } from 'node:path'
import { AppError } from '../core/error.ts'
import { readJson, readText, shaped, writeJson } from './files.ts'
import type { Places } from './settings.ts'

/** Maximum number of saved tokens of anonymous purchases; the oldest are dropped. */
const JOB_TOKENS_MAX = 2_000

const Secrets = shaped({
  'admin_keys?': ['{', 's'],
  /** API keys by `<instance> <wallet address>`. */
  'api_keys?': ['{', 's'],
  /** Tokens of anonymous purchases, keyed by `<instance> <job or thread id>`, oldest first. */
  'job_tokens?': ['{', 's'],
  /** Webhook secrets by `<instance> <wallet address>`. */
  'webhook_secrets?': ['{', 's'],
  /** Secret with which `listen` signs. */
  'listen_secret?': 's',
})

/** The instance to which a credential belongs: the instance's id if it is known, or else its address. */
export type InstanceKey = string

export function secretsFile(places: Pick<Places, 'config'>): string {
  return join(places.config, 'secrets.json')
}

function read(places: Pick<Places, 'config'>) {
  return {
    admin_keys: {},
    api_keys: {},
    webhook_secrets: {},
    job_tokens: {},
    ...readJson(secretsFile(places), Secrets),
  }
}

/** Admin key of the local daemon, from its private file (decisions §3); undefined if there is none. */
export function localAdminKey(dataDir: string): string | undefined {
  return readText(join(dataDir, 'admin.key'))?.trim() || undefined
}

export function adminKeyOf(places: Pick<Places, 'config'>, remote: string): string | undefined {
  return read(places).admin_keys[remote]
}

/** Form of a valid credential. Text of any other form is not saved. */
const CREDENTIAL = /^[\x21-\x7e]{1,256}$/

function credential(given: string): string {
  if (CREDENTIAL.test(given)) return given
  throw new AppError('internal', 'The instance returned an invalid credential; it was not saved.')
}

export function keepAdminKey(places: Pick<Places, 'config'>, remote: string, key: string): void {
  const secrets = read(places)
  writeJson(secretsFile(places), { ...secrets, admin_keys: { ...secrets.admin_keys, [remote]: key } })
}

export function apiKeyOf(places: Pick<Places, 'config'>, instance: InstanceKey, wallet: string): string | undefined {
  return read(places).api_keys[`${instance} ${wallet.toLowerCase()}`]
}

export function keepApiKey(
  places: Pick<Places, 'config'>,
  instance: InstanceKey,
  entry: { wallet: string; key: string },
): void {
  const secrets = read(places)
  const name = `${instance} ${entry.wallet.toLowerCase()}`
  writeJson(secretsFile(places), { ...secrets, api_keys: { ...secrets.api_keys, [name]: credential(entry.key) } })
}

/** An account in a response. Secrets that this response does not show are null. */
type AccountAnswer = {
  readonly wallet: string
  readonly api_key?: string | null
  readonly webhook_secret?: string | null | undefined
}

/** Saves the API key and the webhook secret that a registration or rotation returned. */
export function keepAccount(places: Pick<Places, 'config'>, instance: InstanceKey, answer: AccountAnswer): void {
  const { wallet, api_key: key = null, webhook_secret: secret = null } = answer
  if (key !== null) keepApiKey(places, instance, { wallet, key })
  if (secret === null) return
  const secrets = read(places)
  const name = `${instance} ${wallet.toLowerCase()}`
  writeJson(secretsFile(places), {
    ...secrets,
    webhook_secrets: { ...secrets.webhook_secrets, [name]: credential(secret) },
  })
}

export function webhookSecretOf(
  places: Pick<Places, 'config'>,
  instance: InstanceKey,
  wallet: string,
): string | undefined {
  return read(places).webhook_secrets[`${instance} ${wallet.toLowerCase()}`]
}

export function jobTokenOf(places: Pick<Places, 'config'>, instance: InstanceKey, id: string): string | undefined {
  return read(places).job_tokens[`${instance} ${id}`]
}

/** Ids of the jobs and conversations whose access tokens are saved for an instance, newest first. */
export function tokensAt(places: Pick<Places, 'config'>, instance: InstanceKey): readonly string[] {
  const names = Object.keys(read(places).job_tokens).filter((name) => name.startsWith(`${instance} `))
  return names.map((name) => name.slice(instance.length + 1)).reverse()
}

export function keepJobToken(
  places: Pick<Places, 'config'>,
  instance: InstanceKey,
  entry: { job: string; thread?: string; token: string },
): void {
  const secrets = read(places)
  const kept = Object.entries(secrets.job_tokens).slice(-(JOB_TOKENS_MAX - 2))
  const tokens = Object.fromEntries([
    ...kept,
    ...[entry.job, entry.thread ?? []].flat().map((id) => [`${instance} ${id}`, credential(entry.token)]),
  ])
  writeJson(secretsFile(places), { ...secrets, job_tokens: tokens })
}

/** The signing secret of `souk listen`; undefined before its first use. */
export function keptListenSecret(places: Pick<Places, 'config'>): string | undefined {
  return read(places).listen_secret
}

/** `listen`'s secret, created on first use. */
export function listenSecret(places: Pick<Places, 'config'>, make: () => string): string {
  const secrets = read(places)
  if (secrets.listen_secret !== undefined) return secrets.listen_secret
  const listen_secret = make()
  writeJson(secretsFile(places), { ...secrets, listen_secret })
  return listen_secret
}

/** Removes the admin key of a remote. */
export function dropSecrets(places: Pick<Places, 'config'>, remote: string): void {
  const secrets = read(places)
  const { [remote]: _gone, ...admin_keys } = secrets.admin_keys
  writeJson(secretsFile(places), { ...secrets, admin_keys })
}

/** Removes the credentials for an instance, after the instance has said that it does not know them. */
export function dropInstance(places: Pick<Places, 'config'>, instance: InstanceKey): void {
  const secrets = read(places)
  const others = (kept: Record<string, string>) =>
    Object.fromEntries(Object.entries(kept).filter(([name]) => !name.startsWith(`${instance} `)))
  const left = {
    api_keys: others(secrets.api_keys),
    webhook_secrets: others(secrets.webhook_secrets),
    job_tokens: others(secrets.job_tokens),
  }
  const count = ({ api_keys, webhook_secrets, job_tokens }: typeof left) =>
    [api_keys, webhook_secrets, job_tokens].reduce((sum, kept) => sum + Object.keys(kept).length, 0)
  if (count(left) === count(secrets)) return
  writeJson(secretsFile(places), { ...secrets, ...left })
}
