import { type FoundDaemon, findLiveDaemon, frontOf } from '../client/discover.ts'
import { readText } from '../client/files.ts'
import { originOf } from '../client/origin.ts'
import { PinMismatch } from '../client/pin.ts'
import type { Remote } from '../client/remotes.ts'
import { LOCAL, type Places, readSettings } from '../client/settings.ts'
import type { InTheClear, TransportError } from '../client/transport.ts'
import { compact } from '../core/record.ts'
import { startWords } from '../model/start.ts'
import { shellLine, span } from '../text/text.ts'
import type { System } from './env.ts'
import { CliError } from './exit.ts'
import type { Globals } from './globals.ts'

/** The selected instance. */
export type Target = {
  /** `local`, a remote's name, or the `--base-url`. */
  readonly name: string
  readonly url: string
  readonly network: Remote['network']
  /** Key under which the instance's credentials are saved. */
  readonly instance: string
  /** Data folder of a local daemon. */
  readonly dataDir?: string
  /** Before a change, the user must type the instance's name. */
  readonly protected?: true
  /** Pinned certificate. */
  readonly fingerprint?: string
  /** What may be sent over plain HTTP. */
  readonly inTheClear?: InTheClear
}

type Context = { readonly globals: Globals; readonly places: Places; readonly system: System }

/** The instance that `--base-url` names, else `--remote`, else `remote use`; without these, the local daemon. */
export async function resolveTarget(host: Context): Promise<Target> {
  const { globals, places } = host
  if (globals.baseUrl !== undefined) {
    const url = originOf(globals.baseUrl)
    return { name: url, url, network: 'sandbox', instance: url }
  }
  const name = globals.remote ?? readSettings(places).remote ?? LOCAL
  if (name === LOCAL) return localTarget(host)
  const { getRemote } = await import('../client/remotes.ts')
  const remote = getRemote(places, name)
  const protection = remote.protected ? { protected: true as const } : {}
  const { url, network, fingerprint } = remote
  const trusted = remote.plain_credentials ? { inTheClear: 'credentials' as const } : {}
  return { name, url, network, instance: url, ...protection, ...trusted, ...compact({ fingerprint }) }
}

async function localTarget({ places, system }: Context): Promise<Target> {
  const found = await findLiveDaemon(places)
  const registration = found.state === 'running' ? found.registration : frontOf(found)
  if (registration === undefined) throw noDaemon(found, places, system.now())
  const { url, data_dir, fingerprint, chain: network = 'sandbox' } = registration
  const here = { instance: data_dir, dataDir: data_dir, inTheClear: 'everything' as const }
  return { name: LOCAL, url, network, ...here, ...compact({ fingerprint }) }
}

/** The error for a local daemon that does not serve; it states the daemon's state and the next command. */
export function noDaemon(found: FoundDaemon, places: Places, now: number): CliError {
  if (found.state === 'absent') {
    return new CliError('no_daemon', 'The local daemon is not running.', {
      facts: lastStop(places, now),
      next: ['souk up'],
    })
  }
  if (found.state === 'starting') {
    const { pid } = found.registration
    return new CliError('no_daemon', `The local daemon is still starting (pid ${pid}).`, {
      facts: [startWords(found.registration)],
      next: ['souk up'],
      details: { state: 'starting', pid },
    })
  }
  if (found.state === 'unresponsive') {
    return new CliError('no_daemon', `The local daemon (pid ${found.registration.pid}) does not answer.`, {
      facts: [`registered at ${found.registration.url}`],
      next: ['souk logs --tail 50', 'souk restart'],
    })
  }
  return new CliError('no_daemon', 'The local daemon is not running: it crashed or was killed.', {
    facts: [`pid ${found.registration.pid} has exited; its data is in ${found.registration.data_dir}`],
    // `restart` keeps the options with which the daemon was started; `up` would use the defaults.
    next: ['souk restart'],
  })
}

function lastStop(places: Places, now: number): string[] {
  const at = lastCleanStop(places)
  if (at === undefined) return ['no daemon has run here yet']
  const [, url] = lastStopWords(places)
  const nothing = url === undefined ? '' : `nothing listens on ${url}; `
  return [`${nothing}last stop was ${span(now - at)} ago, cleanly`]
}

/** Time and address. */
function lastStopWords(places: Pick<Places, 'state'>): readonly string[] {
  return (readText(`${places.state}/last-stop`) ?? '').trim().split(' ')
}

/** Time of the last orderly stop in epoch milliseconds; undefined if there was none. */
export function lastCleanStop(places: Pick<Places, 'state'>): number | undefined {
  const at = Date.parse(lastStopWords(places)[0] ?? '')
  return Number.isNaN(at) ? undefined : at
}

export async function adminKey(places: Places, target: Target): Promise<string> {
  const { adminKeyOf, localAdminKey } = await import('../client/secrets.ts')
  const key = target.dataDir === undefined ? adminKeyOf(places, target.name) : localAdminKey(target.dataDir)
  if (key !== undefined) return key
  throw new CliError('auth', `There is no admin credential for ${target.name}.`, {
    facts: ['administrative commands need one'],
    next:
      target.dataDir === undefined
        ? [shellLine`souk remote add ${target.name} ${target.url} --admin-key-stdin`]
        : ['souk restart'],
  })
}

export function unreachable(error: TransportError, target: Target): Error {
  if (error.failure === 'aborted') return new CliError('interrupted', 'Interrupted by ctrl-c.', { cause: error })
  const next = target.name === LOCAL ? ['souk status'] : ['souk remote list']
  if (error.failure === 'timeout') {
    return new CliError('no_daemon', `${target.name} did not answer in time.`, {
      facts: [target.url],
      next,
      cause: error,
    })
  }
  if (error.failure === 'untrusted') return untrusted(error, target)
  if (error.failure === 'in_the_clear') return readable(target, error)
  const facts = error.failure === 'refused' ? [`nothing listens on ${target.url}`] : [error.message]
  return new CliError('no_daemon', `${target.name} cannot be reached.`, { facts, next, cause: error })
}

/** The error for credentials that others on the network could read. */
export function readable({ name, url }: Target, cause?: TransportError): CliError {
  const isNamed = name !== url
  const facts = [url, 'nothing was sent', 'souk up --tls on that machine serves https, and prints how to add it here']
  const secure = `https://${new URL(url).host}`
  return new CliError(
    'auth',
    `Credentials are not sent over plain HTTP to ${name}: others on the network could read them.`,
    {
      facts: [...facts, 'on a private network, use --plain-credentials to allow credentials (never payments)'],
      next: [
        isNamed ? shellLine`souk remote add ${name}-tls ${secure}` : shellLine`souk remote add NAME ${secure}`,
        shellLine`souk remote add ${isNamed ? name : 'NAME'} ${url} --plain-credentials`,
      ],
      ...compact({ cause }),
    },
  )
}

/** Certificate faults by the code of Node's error. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host name',
}

/** The error for an untrusted certificate. Nothing was sent, so the user decides whether to trust it. */
function untrusted(error: TransportError, { name, url }: Target): CliError {
  const again = shellLine`souk remote add ${name === url ? 'NAME' : name} ${url}`
  if (!(error.cause instanceof PinMismatch)) {
    const { code = '' } = (error.cause ?? {}) as { code?: string }
    const facts = [CERTIFICATE_FAULTS[code] ?? 'no authority that this machine trusts issued it', 'nothing was sent']
    return new CliError('auth', `The certificate of ${name} is not trusted.`, { facts, next: [again], cause: error })
  }
  const { pinned, shown } = error.cause
  return new CliError('auth', `${name} presents a different certificate than the pinned one.`, {
    facts: [
      `pinned  ${pinned}`,
      `shown   ${shown}`,
      'nothing was sent; ask its operator whether the certificate was renewed',
    ],
    next: name === LOCAL ? ['souk restart'] : [shellLine`souk remote remove ${name}`, again],
    cause: error,
  })
}
