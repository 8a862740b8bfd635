import { defineCommand } from '../src/cli/command.ts'
import * as z from '../src/cli/params.ts'
import { relaunched } from '../src/cli/public.ts'
import { wouldDo } from '../src/cli/session.ts'
import { compact } from '../src/core/record.ts'
import { hostOf, lastLaunchOf, launchOptions, notifyOf, portOf, signerOf, storeOf } from '../src/lifecycle/launch.ts'
import { passphraseFor } from '../src/lifecycle/passphrase.ts'
import { readEngines } from '../src/lifecycle/run.ts'
import { shownFront, startDaemon } from '../src/lifecycle/start.ts'
import { GRACE_MS, stopDaemon } from '../src/lifecycle/stop.ts'
import { bold, green } from '../src/text/text.ts'

const { port, host, logLevel, publicUrl, allowHost, trustProxy, notify, signer, quietHours, passphraseFd } =
  launchOptions

export const command = defineCommand({
  name: 'restart',
  heading: 'Daemon',
  summary: 'restart the local daemon with the same options',
  description: 'Pause, cutover and features keep their current settings.',
  options: z.object({
    port: port.meta({ description: 'new port', value: 'n' }),
    host: host.meta({ description: 'new address to listen on', value: 'address' }),
    logLevel: logLevel.unwrap().optional().meta({ description: 'new log level' }),
    publicUrl: publicUrl.meta({ description: 'new public URL', value: 'url' }),
    allowHost: allowHost.unwrap().optional().meta({ description: 'new list of additional host names', value: 'name' }),
    trustProxy: trustProxy.unwrap().optional().meta({ description: 'new list of trusted proxies', value: 'address' }),
    notify: notify.unwrap().optional().meta({ description: 'new list of targets of alarms', value: 'target' }),
    signer: signer.meta({ description: 'new signer of keys', value: 'signer' }),
    quietHours: quietHours.meta({ description: 'new local hours with few alarms', value: 'hours' }),
    passphraseFd,
    facilitator: z.choice(['on', 'off'], {
      description: 'turn the facilitator for other servers on or off',
      value: 'on|off',
    }),
  }),
  examples: ['souk restart', 'souk restart --log-level debug'],
  async run(context) {
    const last = lastLaunchOf(context.places)
    const store = storeOf(context, {}) ?? last.store
    const { passphraseFd, host = last.host, logLevel = last.logLevel, facilitator: on, ...others } = context.options
    const facilitator = on === undefined ? last.facilitator : on === 'on'
    const said = { ...others, ...compact({ notify: notifyOf(context, others), signer: signerOf(context, others) }) }
    const launch = relaunched(
      context.places,
      { ...last, logLevel, facilitator, ...compact({ host, store, passphraseFd }) },
      said,
    )
    wouldDo(context.globals, `stop ${context.places.instance} and start it on ${hostOf(launch)}:${portOf(launch)}`)
    readEngines(launch)
    const passphrase = await passphraseFor(context, launch)
    const stopped = await stopDaemon(context, { graceMs: GRACE_MS, force: false })
    const started = await startDaemon({ ...context, passphrase }, launch)
    if ('waiting' in started) return { ...shownFront(started), was: stopped.how }
    const { registration } = started
    return {
      state: 'running' as const,
      was: stopped.how,
      url: registration.url,
      pid: registration.pid,
      version: registration.version,
      started_at: registration.started_at,
    }
  },
  view({ state, url, pid, version, was }, io) {
    const again = was === 'absent' ? 'is up' : 'is up again'
    const up = state === 'front' ? 'is a front' : again
    io.line(`${green('✓')} souk ${version} ${up}   ${bold(url)}   pid ${pid}`)
    if (was === 'absent') io.line('  no daemon was running')
    if (was === 'crashed') io.line('  the previous daemon had crashed')
    if (was === 'killed') io.line('  the previous daemon did not stop and was killed')
  },
})
