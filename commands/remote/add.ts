import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { CliError, usage } from '../../src/cli/exit.ts'
import type { Io } from '../../src/cli/io.ts'
import * as params from '../../src/cli/params.ts'
import { wouldDo } from '../../src/cli/session.ts'
import { endpoints } from '../../src/client/endpoints.ts'
import { originOf } from '../../src/client/origin.ts'
import { fingerprintOf, type ShownCertificate, shownCertificate } from '../../src/client/pin.ts'
import { addRemote, type Remote, remoteNetworks } from '../../src/client/remotes.ts'
import type { Places } from '../../src/client/settings.ts'
import { createTransport, REQUEST_TIMEOUT_MS, readOnTheWay, TransportError } from '../../src/client/transport.ts'
import { Address } from '../../src/core/codecs.ts'
import { compact } from '../../src/core/record.ts'
import { bold, cyan, green, shellLine } from '../../src/text/text.ts'

const Terms = z.looseObject({ service: z.string(), chain: z.looseObject({ asset: Address }).optional() })

export const command = defineCommand({
  name: 'remote add',
  summary: 'add a remote instance by its URL',
  description:
    'Real USDC is paid only with --network base; otherwise payments use the test token of the instance. A certificate unknown to this machine, such as that of `souk up --tls`, is shown and pinned after confirmation. Other certificates are refused afterwards.',
  args: params.object({
    name: params.string().meta({ description: 'name of the remote' }),
    url: params.string().meta({ description: 'URL of the instance' }),
  }),
  options: params.object({
    network: params.enum(remoteNetworks).default('sandbox').meta({ description: 'settlement network of the instance' }),
    fingerprint: params.text({
      description: 'certificate fingerprint (SHA-256), as printed by `souk up --tls`',
      value: 'sha256',
    }),
    plainCredentials: params.flag({
      description: 'allow keys over plain HTTP, where others can read them; payments stay refused',
    }),
    protected: params.flag({ description: 'require typing the name before changes' }),
    keyStdin: params.flag({ description: 'read the API key of your account on the instance from stdin' }),
    adminKeyStdin: params.flag({ description: 'read the admin key from stdin' }),
  }),
  examples: [
    'souk remote add shop https://market.example --dry-run',
    'souk remote add shop https://market.example --network base --dry-run',
    'souk remote add shop https://192.168.1.5:4020 --fingerprint SHA256 --dry-run',
  ],
  async run({ args, globals, io, options, places, signal }) {
    const url = originOf(args.url)
    const isReadable = readOnTheWay(url, ['authorization'], undefined)
    refuseOdd(options, { url, isReadable })
    wouldDo(globals, `add ${args.name}: ${url}, ${options.network}`)
    const fingerprint = await pinFor(url, { io, signal, said: options.fingerprint, timeoutMs: globals.timeoutMs })
    const terms = await termsOf(url, fingerprint)
    const keep = await keyKeeper({ io, places, as: globals.as }, options)
    const assets = terms.chain === undefined ? {} : { assets: [terms.chain.asset] }
    const remote = addRemote(places, {
      name: args.name,
      url,
      network: options.network,
      ...assets,
      ...compact({ fingerprint }),
      ...(options.plainCredentials ? { plain_credentials: true } : {}),
      ...(options.protected ? { protected: true } : {}),
    })
    await keep(remote)
    const credentials = !isReadable || options.plainCredentials ? 'sent' : 'withheld'
    return { name: remote.name, url, network: remote.network, fingerprint: fingerprint ?? null, credentials }
  },
  view({ name, url, network, fingerprint, credentials }, io) {
    io.line(`${green('✓')} ${bold(name)}   ${url}   ${network}`)
    if (fingerprint !== null) io.line(`  pinned    ${fingerprint}`)
    if (credentials === 'withheld') io.line('  plain     no key is sent over plain HTTP')
    io.note(
      `  next      ${cyan(io.hint(shellLine`souk status -r ${name}`))}    ${cyan(io.hint(shellLine`souk remote use ${name}`))}`,
    )
  },
})

type RemoteParams = { readonly plainCredentials: boolean; readonly keyStdin: boolean; readonly adminKeyStdin: boolean }
type Place = { readonly url: string; readonly isReadable: boolean }

/** Checks options before a key is read. @throws CliError `usage` for options that contradict each other */
function refuseOdd({ plainCredentials, keyStdin, adminKeyStdin }: RemoteParams, { url, isReadable }: Place): void {
  if (plainCredentials && !isReadable) {
    throw usage('--plain-credentials is only for plain HTTP to another machine.', { facts: [url] })
  }
  if (keyStdin && adminKeyStdin) throw usage('stdin can hold only one key: use --key-stdin or --admin-key-stdin.')
  if ((keyStdin || adminKeyStdin) && isReadable && !plainCredentials) {
    throw usage(`A key would be sent over plain HTTP to ${url}: others on the network could read it.`, {
      facts: ['souk up --tls on that machine serves https, and prints how to add it here'],
      next: ['… --plain-credentials'],
    })
  }
}

type Keeping = { readonly io: Io; readonly places: Places; readonly as: string | undefined }

/** Reads the key from stdin before the remote is added. @returns a function that saves the key */
async function keyKeeper({ io, places, as }: Keeping, { keyStdin, adminKeyStdin }: RemoteParams) {
  const holder = keyStdin ? await holderOf(places, as) : undefined
  const secret = adminKeyStdin || keyStdin ? (await io.stdin()).trim() : ''
  return async ({ name, url }: Remote): Promise<void> => {
    if (secret === '') return
    const { keepAdminKey, keepApiKey } = await import('../../src/client/secrets.ts')
    if (holder === undefined) keepAdminKey(places, name, secret)
    else keepApiKey(places, url, { wallet: holder, key: secret })
  }
}

/** Address of the wallet whose API key is saved. @throws CliError `usage` without a wallet */
async function holderOf(places: Places, as: string | undefined): Promise<string> {
  const { currentWallet } = await import('../../src/client/wallets.ts')
  const address = currentWallet(places, as)?.address
  if (address === undefined)
    throw usage('An API key belongs to a wallet: choose one with --as.', { next: ['souk wallet new main'] })
  return address
}

async function termsOf(url: string, fingerprint: string | undefined): Promise<z.output<typeof Terms>> {
  const [method, path] = endpoints.getHealth
  try {
    const answer = await createTransport({ baseUrl: url, fingerprint })({ method, path })
    return Terms.parse(JSON.parse(await answer.text()))
  } catch (cause) {
    const why = cause instanceof TransportError ? cause.message : 'its /health is not a marketplace report'
    throw new CliError('no_daemon', `No marketplace answers at ${url}.`, { facts: [why], cause })
  }
}

type Agreeing = {
  readonly io: Io
  readonly signal: AbortSignal
  readonly said: string | undefined
  readonly timeoutMs: number | undefined
}

/**
 * Fingerprint of the certificate to pin; undefined if this machine's authorities accept the certificate. Before
 * approval, only a TLS handshake is sent.
 */
async function pinFor(url: string, { io, signal, said, timeoutMs = REQUEST_TIMEOUT_MS }: Agreeing) {
  const wanted = said === undefined ? undefined : fingerprintOf(said)
  if (said !== undefined && wanted === undefined) {
    throw usage(`--fingerprint must be a SHA-256, 64 hex digits with or without colons; you gave "${said}".`)
  }
  if (!url.startsWith('https:')) {
    if (wanted === undefined) return undefined
    throw usage('--fingerprint needs an https URL.', { facts: [url] })
  }
  const seen = await shownCertificate(new URL(url), { timeoutMs, signal }).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError('no_daemon', `No marketplace answers at ${url}.`, { facts: [why], cause })
  })
  if (wanted === seen.fingerprint) return wanted
  if (wanted !== undefined) {
    throw new CliError('auth', `${url} presents another certificate than the given fingerprint. It was not added.`, {
      facts: [`given  ${wanted}`, `shown  ${seen.fingerprint}`],
    })
  }
  return seen.trusted ? undefined : agreed(url, seen, io)
}

/** Asks a person to compare the fingerprint; `--yes` is not enough. Without a terminal, `--fingerprint` is required. */
async function agreed(url: string, { fingerprint, valid_to }: ShownCertificate, io: Io): Promise<string> {
  const facts = [`SHA-256   ${fingerprint}`, `valid to  ${valid_to}`, 'souk up --tls on that machine prints it']
  if (!io.canAsk) {
    const sentence = `The certificate of ${url} is not signed by a trusted authority, and there is no terminal to ask on.`
    throw usage(sentence, { facts, next: ['… --fingerprint SHA256'] })
  }
  for (const fact of facts) io.say(fact)
  const answer = await io.ask('Is this the true fingerprint? Type yes to pin it:', { flag: '--fingerprint SHA256' })
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('cancelled', 'Nothing was added.')
  return fingerprint
}
