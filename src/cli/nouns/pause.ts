import type { WireAnswer } from '../../api/index.ts'
import { LOCAL } from '../../client/settings.ts'
import { bold, cyan, dim, green, harmless, shellLine, yellow } from '../../text/text.ts'
import type { CommandContext } from '../command.ts'
import type { Io } from '../io.ts'
import * as z from '../params.ts'
import { confirmName, type Session, type SessionHost } from '../session.ts'

type PauseState = WireAnswer<'getPlatformStatus'>
type PauseChange = WireAnswer<'pausePlatform'>

const reason = z.text({ description: 'reason, shown in status and log', value: 'text' })

export const changeOptions = z.object({ reason })
type Changing = CommandContext<unknown, z.output<typeof changeOptions>>

type Switching = {
  readonly says: string
  readonly send: (session: Session, body: { readonly reason?: string }) => Promise<PauseChange>
  /** Text for the prompt, with the number of endpoints or items that the change closes. */
  readonly scope?: (session: Session) => Promise<string>
}

/** Pauses or resumes, after the user has confirmed the instance. */
export async function change(context: Changing, { says, send, scope }: Switching) {
  const session = await context.session()
  await makeSure(context, session, { says, scope: scope && (() => scope(session)), reason: context.options.reason })
  const { reason: why } = context.options
  return { remote: session.target.name, ...(await send(session, why === undefined ? {} : { reason: why })) }
}

type Sentence = {
  readonly says: string
  readonly scope?: (() => Promise<string>) | undefined
  readonly reason?: string | undefined
}

/** Asks the user to type the remote's name before a change. For protected remotes, the session asks instead. */
export async function makeSure(context: SessionHost, { target }: Session, sentence: Sentence): Promise<void> {
  const { globals, io } = context
  const { says } = sentence
  const isLocal = target.name === LOCAL && globals.confirm === undefined
  if (globals.dryRun) return
  // On the local instance, people at a terminal are asked. Scripts are not asked.
  if (isLocal && io.canAsk) await io.confirm(`This ${says} ${target.name}${await more(sentence)}. Go on?`)
  if (isLocal || target.protected) return
  if (globals.confirm === undefined && io.canAsk) io.say(`This ${says} ${target.name}${await more(sentence)}.`)
  await confirmName(context, target, says)
}

async function more({ scope, reason: why }: Sentence): Promise<string> {
  const known = [await scope?.(), why === undefined ? undefined : `reason: ${harmless(why)}`].filter(Boolean)
  return known.length === 0 ? '' : ` (${known.join('; ')})`
}

type Noun = 'platform' | 'escrow'

export function showState(
  { noun, stopped }: { noun: Noun; stopped: string },
  data: PauseState & { readonly remote: string },
  io: Io,
): void {
  const { remote, paused, paused_at, reason: why } = data
  io.line(
    paused ? `${yellow('‖')} ${noun} of ${bold(remote)}: ${stopped}` : `${green('●')} ${noun} of ${bold(remote)}: live`,
  )
  if (paused) io.line(`  since ${paused_at}   reason: ${why ?? dim('none given')}`)
}

export function showChange(noun: Noun, data: PauseChange & { readonly remote: string }, io: Io): void {
  const { remote, paused, paused_at, reason: why, changed } = data
  const already = changed ? '' : dim('   (no change)')
  if (!paused) {
    io.line(`${green('●')} the ${noun} of ${bold(remote)} is live${already}`)
    return
  }
  io.line(
    `${yellow('‖')} paused the ${noun} of ${bold(remote)} at ${paused_at}${why ? `   reason: ${why}` : ''}${already}`,
  )
  io.note(
    `  undo: ${cyan(io.hint(remote === LOCAL ? `souk admin ${noun} unpause` : shellLine`souk admin ${noun} unpause -r ${remote}`))}`,
  )
}
