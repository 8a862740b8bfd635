import type { $ZodIssue } from 'zod/v4/core'
import { BadAnswer } from '../client/check.ts'
import type { Budget } from '../client/spending/budget.ts'
import { TransportError } from '../client/transport.ts'
import { AppError, type ErrorCode, errorCodes } from '../core/error.ts'
import { idPrefixes } from '../core/id-prefixes.ts'
import { compact } from '../core/record.ts'
import { bold, clip, cyan, dim, jsonText, nearest, oneLine, red, shellLine, span } from '../text/text.ts'
import { paymentsSent, spendingLine, spentAmounts } from './budget.ts'
import { CliError, exits } from './exit.ts'
import type { Io } from './io.ts'
import { machineTrouble } from './machine-trouble.ts'

const MS_PER_SECOND = 1_000
const SENTENCE_CHARS_MAX = 300

/** A failure as it is shown: an error sentence, facts and suggested commands. */
export type Failure = {
  readonly code: string
  readonly exit: number
  readonly sentence: string
  readonly facts: readonly string[]
  readonly next: readonly string[]
  readonly status?: number
  readonly requestId?: string
  readonly retryAfter?: number
  readonly details?: unknown
}

/** Suggested commands by error code. */
const wayOut: Partial<Record<ErrorCode, readonly string[]>> = {
  unauthorized: ['souk wallet list'],
  payment_required: ['souk wallet list'],
  registration_required: ['souk account register'],
  insufficient_balance: ['souk wallet show'],
  paused: ['souk health'],
  unavailable: ['souk status'],
  internal: ['souk logs --level error --tail 5'],
}

const known: Partial<Record<ErrorCode, string>> = {
  paused: 'reads, balances and exports still work; nothing was charged',
  provider_failed: 'an instant service that fails costs nothing',
}

const UNKNOWN_KEY = 'the instance rejects the saved API key: its data was reset, or another instance uses this address'

/** Explains an error. @param words - the words of the command line, to detect typos */
export function explain(error: unknown, words: readonly string[] = []): Failure {
  if (error instanceof CliError) {
    const { exit, facts, next, details, requestId } = error
    return { code: exit, exit: exits[exit], sentence: error.message, facts, next, details, ...compact({ requestId }) }
  }
  if (isAppError(error)) return explainApp(error, words)
  if (error instanceof BadAnswer) return unreadable(error)
  if (error instanceof Error && error.name === 'ZodError') return unreadable(oddRecord(error))
  if (error instanceof TransportError) return brokenOff(error)
  const trouble = machineTrouble(error)
  if (trouble !== undefined) return { code: 'failure', exit: exits.failure, ...trouble }
  const sentence = clip(oneLine(error instanceof Error ? error.message : String(error)), SENTENCE_CHARS_MAX)
  const repair = repairOf(error)
  return {
    code: 'failure',
    exit: exits.failure,
    sentence: sentence || 'Failed without an error message.',
    facts: repair === undefined ? ['unexpected error; run again with --debug for details'] : [],
    next: repair === undefined ? [] : [repair],
  }
}

/** Also accepts an AppError of the daemon's bundle, which has its own copy of the class. */
function isAppError(error: unknown): error is AppError {
  return error instanceof AppError || (error instanceof Error && error.name === 'AppError')
}

function brokenOff({ failure, message }: TransportError): Failure {
  const exit = failure === 'too_large' ? 'failure' : 'no_daemon'
  const sentence = 'The response of the instance was incomplete.'
  return { code: exit, exit: exits[exit], sentence, facts: [message], next: ['souk status'] }
}

/** The command that repairs a damaged store; undefined for any other error. */
function repairOf(error: unknown): string | undefined {
  return error instanceof Error && 'repair' in error && typeof error.repair === 'string' ? error.repair : undefined
}

/** Describes an invalid response by its first fault. */
function unreadable({ message, path, must }: BadAnswer): Failure {
  const facts = [`${path || 'the answer'} ${must}`]
  return { code: 'bad_answer', exit: exits.failure, sentence: message, facts, next: ['souk status'] }
}

/** Describes an invalid record of an export by its first fault. */
function oddRecord(error: Error & { readonly issues?: readonly $ZodIssue[] }): BadAnswer {
  const { path = [], message = 'cannot be read' } = error.issues?.[0] ?? {}
  return new BadAnswer({ path: path.map(String), must: message })
}

function nextAfter(error: AppError, words: readonly string[]): readonly string[] {
  if (error.extra.unknown_key === true) return ['souk account register']
  // Both commands ask for the passphrase of key files.
  if (error.extra.key_file === true) return [words.includes('encrypt') ? 'souk admin keys encrypt' : 'souk up']
  return wayOut[error.code] ?? wayOutOf(error, words)
}

function explainApp(error: AppError, words: readonly string[]): Failure {
  const { request_id: requestId } = error.extra
  const isUnknownKey = error.extra.unknown_key === true
  const fact = isUnknownKey ? UNKNOWN_KEY : known[error.code]
  const details = error.details ?? []
  return {
    code: error.code,
    exit: exitOf(error),
    sentence: sentenceOf(error),
    status: error.status,
    facts: [
      ...details.map(({ path, message }) => (path && !error.message.startsWith(path) ? `${path}: ${message}` : '')),
      ...(fact === undefined ? [] : [fact]),
      ...slipsIn(error, words),
      ...(error.retryAfter === undefined ? [] : [`try again in ${span(error.retryAfter * MS_PER_SECOND)}`]),
    ].filter((line) => line !== ''),
    next: nextAfter(error, words),
    ...(typeof requestId === 'string' ? { requestId } : {}),
    ...compact({ retryAfter: error.retryAfter, details: error.details }),
  }
}

/** The error sentence. For a paused marketplace, it names the remote, the start of the pause, and the reason. */
function sentenceOf({ code, message, extra }: AppError): string {
  const { remote, request, paused_at: since, reason, feature } = extra
  if (code === 'deferred' && typeof request === 'string') {
    return `${request} is disabled during the checkout v2 cutover.`
  }
  if (code !== 'paused' || feature === 'escrow' || typeof remote !== 'string') return message
  const when = typeof since === 'string' ? ` since ${since}` : ''
  return `Paid activity is paused on ${remote}${when}${typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''}.`
}

/** Matches errors about an unknown remote or wallet of this machine. */
const KEPT_HERE = /^(Remote|Wallet) "/

/** Suggested commands for an error, chosen by the words of the command line. */
function wayOutOf({ code, message }: AppError, words: readonly string[]): readonly string[] {
  const kept = KEPT_HERE.exec(message)?.[1]
  if (code === 'not_found' && words.includes('chain')) return ['souk chain queue --all']
  if (code === 'not_found')
    return kept === undefined
      ? words.flatMap((word) => lists[prefixOf(word) ?? ''] ?? []).slice(0, 1)
      : [`souk ${kept.toLowerCase()} list`]
  if (code === 'deferred') return shelvedNext(words)
  const service = serviceIn(words)
  if (service === undefined) return []
  if (code === 'input_invalid') return [shellLine`souk services view ${service} --schema`]
  return code === 'quote_required' ? [shellLine`souk services inquire ${service} -m "..."`] : []
}

const LABELLED = /^([a-z ]+): (souk .+)$/

function shelvedNext(words: readonly string[]): readonly string[] {
  const read = Object.values(lists).find((line) => words.some((word) => line === `souk ${word} list`))
  return [...(read === undefined ? [] : [`reads still work: ${read}`]), 'status: souk endpoints list --status deferred']
}

/** The service that a command line names: an id, or the word after `buy`. Undefined if there is none. */
function serviceIn(words: readonly string[]): string | undefined {
  const byId = words.find((word) => prefixOf(word) === idPrefixes.service)
  const named = words[words.indexOf('buy') + 1]
  return byId ?? (words.includes('buy') && named !== undefined && !named.startsWith('-') ? named : undefined)
}

/** The list command for each kind of id. */
const lists: Readonly<Record<string, string>> = {
  [idPrefixes.service]: 'souk services list',
  [idPrefixes.job]: 'souk jobs list',
  [idPrefixes.thread]: 'souk threads list',
  [idPrefixes.plan]: 'souk plans list',
  [idPrefixes.subscription]: 'souk subs list',
  [idPrefixes.product]: 'souk products list',
  [idPrefixes.posting]: 'souk requests list',
  [idPrefixes.participant]: 'souk participants list',
}

function prefixOf(word: string): string | undefined {
  return Object.values(idPrefixes).find((prefix) => word.startsWith(prefix))
}

const ID_DIGITS = 16

/** Explains an incomplete id, or a word that is a typo of an allowed value. */
function slipsIn({ code, details = [] }: AppError, words: readonly string[]): string[] {
  if (code === 'not_found') {
    const broken = words.find((word) => {
      const prefix = prefixOf(word)
      return prefix !== undefined && !/^[0-9a-f]{16}$/.test(word.slice(prefix.length))
    })
    return broken === undefined
      ? []
      : [`"${broken}" is not a complete id (${prefixOf(broken)} + ${ID_DIGITS} hex digits)`]
  }
  return details.flatMap(({ message }) => {
    const known = /^must be one of (.+)$/.exec(message)?.[1]?.split(', ')
    if (known === undefined) return []
    const meant = words.flatMap((word) => nearest(word.replace(/^[\w-]+=/, ''), known) ?? [])
    return meant.length === 0 ? [] : [`did you mean ${meant[0]}?`]
  })
}

/** A disabled endpoint responds with 404 like an unknown one, but has its own exit code `deferred`. */
function exitOf(error: AppError): number {
  return error.code === 'not_found' && error.extra.reason === 'not_enabled'
    ? exits.deferred
    : errorCodes[error.code].exit
}

/** Adds to a failure the command's payments, and the commands that retrieve what was bought. */
export function withPayments(failure: Failure, budget: Budget): Failure {
  const { facts, next } = paymentsSent(budget)
  return { ...failure, facts: [...failure.facts, ...facts], next: [...next, ...failure.next] }
}

/** Prints a failure on stderr, as text or JSON; stdout stays empty. */
export function tell(io: Io, failure: Failure, { error, budget }: { error: unknown; budget: Budget }): void {
  const whole = withPayments(failure, budget)
  const told = {
    ...whole,
    next: whole.next.map((line) => {
      const [, label, command = line] = LABELLED.exec(line) ?? []
      return { label, command: io.hint(command) }
    }),
  }
  for (const line of toldOf(io, told, budget)) io.warn(line)
  if (io.settings.debug !== 'everything' || !(error instanceof Error)) return
  for (const line of stackOf(error).split('\n')) io.warn(dim(`  ${line}`))
}

type Spelled = Omit<Failure, 'next'> & { readonly next: readonly { label: string | undefined; command: string }[] }

function toldOf({ settings }: Io, failure: Spelled, budget: Budget): readonly string[] {
  const spending = spendingLine(budget)
  if (settings.format === 'json' || settings.format === 'ndjson') {
    return [
      jsonText({ error: failureFacts(failure), ...(spending === undefined ? {} : { spent: spentAmounts(budget) }) }),
    ]
  }
  return spending === undefined ? asText(failure) : [...asText(failure), `  ${spending}`]
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : ''
  return (error.stack ?? error.message) + cause
}

function asText(failure: Spelled): string[] {
  return [
    `${red('✗')} ${bold(failure.sentence)}  ${dim(`(exit ${failure.exit})`)}`,
    ...failure.facts.map((fact) => `  ${fact}`),
    ...(failure.next.length === 0
      ? []
      : [
          `  ${failure.next.map(({ label, command }) => `${label === undefined ? '→' : `${label}:`} ${cyan(command)}`).join('      ')}`,
        ]),
    ...(failure.requestId === undefined ? [] : [dim(`  request ${failure.requestId}`)]),
  ]
}

/** The suggested command without the label before it. */
function hintIn(next: string | { readonly command: string } | undefined): string | null {
  if (typeof next !== 'string') return next?.command ?? null
  return LABELLED.exec(next)?.[2] ?? next
}

export function failureFacts(failure: Failure | Spelled) {
  return {
    code: failure.code,
    message: failure.sentence,
    exit: failure.exit,
    status: failure.status ?? null,
    request_id: failure.requestId ?? null,
    hint: hintIn(failure.next[0]),
    facts: failure.facts,
    retry_after: failure.retryAfter ?? null,
    details: failure.details ?? null,
  }
}
