import type { CommandContext } from '../cli/command.ts'
import type { Outcome } from '../client/link.ts'
import { LOCAL } from '../client/settings.ts'
import { compact } from '../core/record.ts'
import { MINUTE_MS } from '../core/time.ts'
import { count } from '../text/text.ts'
import { type Ended, endAll, runProgram } from './run-program.ts'

/** Limits of programs that the cockpit runs. */
const RUN_MAX_MS = 2 * MINUTE_MS
const OUTPUT_BYTES_MAX = 1_000_000
/** Variables that programs get. All others, which may be secrets, are left out. */
const KEPT =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|SSH_AUTH_SOCK|EDITOR|VISUAL|BROWSER)$/
const STOPPED = 'ended by ctrl-c'
/** Exit code of a cockpit whose terminal was closed: 128 and the number of SIGHUP. */
const HUNG_UP = 129

type Context = Pick<CommandContext<unknown, unknown>, 'globals' | 'places' | 'system'>

type Program = {
  readonly words: readonly [string, ...string[]]
  readonly input: (signal: AbortSignal) => Promise<Outcome<string>>
}

/** Runs programs for the cockpit. `close` kills what still runs. */
export function createPrograms(context: Context, place: { readonly name: string; readonly guarded: boolean }) {
  let running: AbortController | undefined
  const env = environmentOf(context, place)
  const runner = {
    isBusy: () => running !== undefined,
    stop() {
      if (running === undefined || running.signal.aborted) return false
      running.abort()
      return true
    },
    async run({ words, input }: Program) {
      const stop = new AbortController()
      running = stop
      // Without this, a closed terminal would end the cockpit but not the program.
      const off = context.system.onSignal('SIGHUP', () => context.system.exit(HUNG_UP))
      try {
        const { signal } = stop
        const stdin = await input(signal)
        if (signal.aborted) return { text: '', problem: STOPPED }
        if (!stdin.ok) return { text: '', problem: stdin.problem.sentence }
        const limits = { maxStdoutBytes: OUTPUT_BYTES_MAX, timeoutMs: RUN_MAX_MS }
        return endOf(await runProgram({ line: words, shell: false, env, stdin: stdin.value, ...limits, signal }))
      } finally {
        off()
        running = undefined
      }
    },
  }
  const close = () => {
    running?.abort()
    endAll()
  }
  return { ...runner, close }
}

function endOf({ code, stdout, lastWords, cut, failure }: Ended) {
  const whys = {
    timeout: `ended after ${RUN_MAX_MS / MINUTE_MS} minutes`,
    too_large: `ended: more than ${count(OUTPUT_BYTES_MAX)} bytes of output`,
    stopped: STOPPED,
  } as const
  const failed = code === null ? 'ended by a signal' : `exit code ${code}`
  const why = cut === undefined ? failed : whys[cut]
  const problem = failure ?? (cut === undefined && code === 0 ? '' : why)
  return { text: [stdout.toString(), lastWords].filter(Boolean).join('\n'), problem }
}

/** Variables of a program. A `souk` in it uses the cockpit's marketplace. */
function environmentOf({ globals, places, system }: Context, { name, guarded }: { name: string; guarded: boolean }) {
  const kept = Object.fromEntries(Object.entries(system.env).filter(([one]) => KEPT.test(one)))
  const where =
    globals.baseUrl === undefined ? { SOUK_REMOTE: guarded ? name : LOCAL } : { SOUK_BASE_URL: globals.baseUrl }
  return {
    ...kept,
    ...where,
    ...compact({ SOUK_INSTANCE: places.instance, SOUK_CONFIG_DIR: places.config, SOUK_DATA_DIR: places.chosenData }),
    NO_COLOR: '1',
    TERM: 'dumb',
  }
}
