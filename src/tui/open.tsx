import { render } from 'ink'
import type { LinkClock } from '../client/link.ts'
import { showTimesIn } from '../text/time.ts'
import { Cockpit } from './cockpit.tsx'
import { createHost, type HostOptions } from './host.ts'
import { createPainter } from './painter.ts'
import type { Look } from './parts/theme.ts'
import { clipboardSequence } from './shell/copy.ts'

const FRAMES_PER_SECOND_MAX = 10
/** What happens by itself is drawn so often at most; keys are at once. */
const FRAME_GAP_MS = 400

export type CockpitOptions = Omit<HostOptions, 'clock' | 'copy' | 'frameGapMs' | 'elsewhere'> & {
  /** Names of other marketplaces; undefined where this one has none. */
  readonly others: (() => readonly string[]) | undefined
  /** Who writes the rows: Ink itself, or a painter that writes only what changed. */
  readonly painter: 'ink' | 'own'
  readonly look: Look
  /** Zone of the times that are shown. */
  readonly zone: 'local' | 'utc'
  readonly now: () => number
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  /** Aborted: leaves. */
  readonly signal: AbortSignal
}

/**
 * Draws the cockpit until it is left; the terminal is as it was before when this settles.
 * @returns the marketplace that is wanted next; undefined for none
 * @throws whatever broke it: while drawing, in a timer, or in a promise that nobody waited for.
 */
export async function openCockpit(options: CockpitOptions): Promise<string | undefined> {
  const { look, stdin, stdout, signal, others } = options
  showTimesIn(options.zone)
  let wanted: string | undefined
  const go = (name: string) => {
    wanted = name
    cockpit.unmount()
  }
  const host = createHost({
    ...options,
    clock: clockOf(options.now),
    frameGapMs: FRAME_GAP_MS,
    elsewhere: others && { names: others, go },
    copy: (text) => stdout.write(clipboardSequence(text)),
  })
  const painter = options.painter === 'ink' ? undefined : createPainter({ look, write: (text) => stdout.write(text) })
  const cockpit = render(<Cockpit {...{ host, look, painter }} onSuspend={stopThisJob} />, {
    stdin,
    stdout,
    alternateScreen: true,
    incrementalRendering: true,
    maxFps: FRAMES_PER_SECOND_MAX,
    exitOnCtrlC: false,
    patchConsole: false,
    // Ink draws nothing where the environment says CI; whoever opens a cockpit there sits before it.
    interactive: true,
  })
  const failures: unknown[] = []
  const broken = (error: unknown) => {
    failures.push(error)
    cockpit.unmount()
  }
  const leave = () => cockpit.unmount()
  process.on('uncaughtException', broken)
  process.on('unhandledRejection', broken)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  host.stream.start()
  try {
    await cockpit.waitUntilExit()
    if (failures.length > 0) throw failures[0]
    return wanted
  } finally {
    host.stream.stop()
    process.off('uncaughtException', broken)
    process.off('unhandledRejection', broken)
    signal.removeEventListener('abort', leave)
  }
}

/** Timers that never keep the process alive: the terminal does that for as long as the cockpit is open. */
function clockOf(now: () => number): LinkClock {
  return {
    now,
    later(ms, run) {
      const timer = setTimeout(run, ms)
      timer.unref()
      return () => clearTimeout(timer)
    },
  }
}

/** What ctrl-z does in any other program: stops the whole job, a wrapper of this process included, until `fg`. */
function stopThisJob(): void {
  process.kill(0, 'SIGTSTP')
}
