import { setFlagsFromString } from 'node:v8'
import { render } from 'ink'
import type { LinkClock } from '../client/link.ts'
import { showTimesIn } from '../text/time.ts'
import { Cockpit } from './cockpit.tsx'
import { type CockpitOptions, createHost } from './host.ts'
import { createPainter } from './painter.ts'
import { MOUSE_OFF, MOUSE_ON, withoutMouse } from './parts/mouse.ts'
import type { Look } from './parts/theme.ts'
import { clipboardSequence } from './shell/copy.ts'
import type { Host } from './shell/screen.ts'

const FRAMES_PER_SECOND_MAX = 10
/** Shortest time between automatic redraws. Keys redraw immediately. */
const FRAME_GAP_MS = 400

/**
 * Keeps V8's space for new objects as small as at the start. By default it doubles with the number of events ever seen,
 * up to 130 MB, although what the cockpit keeps stays at 16 MB.
 */
const FIXED_NEW_SPACE = '--semi-space-growth-factor=1'

/** Runs the cockpit, then restores the terminal. @returns the marketplace to open next @throws the cockpit's error */
export async function openCockpit(options: CockpitOptions): Promise<string | undefined> {
  const { look, stdout, signal, others } = options
  showTimesIn(options.zone)
  let wanted: string | undefined
  const go = (name: string) => {
    wanted = name
    cockpit.unmount()
  }
  const host = createHost({
    ...options,
    ascii: look.ascii,
    restyle(next) {
      painter?.restyle(next)
      cockpit.rerender(drawn(next))
    },
    clock: clockOf(options.now),
    frameGapMs: FRAME_GAP_MS,
    elsewhere: others && { ...others, go },
    copy: (text) => stdout.write(clipboardSequence(text)),
  })
  const painter = options.painter === 'ink' ? undefined : createPainter({ look, write: (text) => stdout.write(text) })
  const { stdin, reportMouse } = mouseOf(options, host)
  const drawn = (now: Look) => <Cockpit {...{ host, look: now, painter, reportMouse }} onSuspend={stopThisJob} />
  const cockpit = render(drawn(look), {
    stdin,
    stdout,
    alternateScreen: true,
    incrementalRendering: true,
    maxFps: FRAMES_PER_SECOND_MAX,
    exitOnCtrlC: false,
    patchConsole: false,
    // Without this, Ink draws nothing if the variable `CI` is set.
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
  setTimeout(() => setFlagsFromString(FIXED_NEW_SPACE), FRAME_GAP_MS).unref()
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

/** The input without mouse reports, and how the terminal is told to send them. */
function mouseOf({ mouse, stdin, stdout }: CockpitOptions, { clock, point }: Host) {
  if (!mouse) return { stdin, reportMouse: () => undefined }
  return {
    stdin: withoutMouse(stdin, { later: clock.later, point: (one) => point.current(one) }),
    reportMouse: (isOn: boolean) => void stdout.write(isOn ? MOUSE_ON : MOUSE_OFF),
  }
}

/** Timers that do not keep the process alive. */
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

/** Stops the whole process group, as ctrl-z does in a shell. */
function stopThisJob(): void {
  process.kill(0, 'SIGTSTP')
}
