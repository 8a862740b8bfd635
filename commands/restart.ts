import { defineCommand } from '../src/cli/command.ts'
import * as z from '../src/cli/params.ts'
import { relaunched } from '../src/cli/public.ts'
import { wouldDo } from '../src/cli/session.ts'
import { compact } from '../src/core/record.ts'
import { readEngines } from '../src/lifecycle/engines-file.ts'
import { hostOf, lastLaunchOf, launchOptions, portOf } from '../src/lifecycle/launch.ts'
import { startDaemon } from '../src/lifecycle/start.ts'
import { GRACE_MS, stopDaemon } from '../src/lifecycle/stop.ts'
import { bold, green } from '../src/text/text.ts'

const { port, host, logLevel, publicUrl, allowHost, trustProxy } = launchOptions

export const command = defineCommand({
  name: 'restart',
  heading: 'Daemon',
  summary: 'stop the local daemon and start it as it was',
  description: 'Pause, cutover and features stay as they were set last, whatever profile it was first started with.',
  args: z.object({}),
  options: z.object({
    port: port.meta({ description: 'another port from now on', value: 'n' }),
    host: host.meta({ description: 'another address from now on', value: 'address' }),
    logLevel: logLevel.unwrap().optional().meta({ description: 'another least level from now on' }),
    publicUrl: publicUrl.meta({ description: 'another public address from now on', value: 'url' }),
    allowHost: allowHost
      .unwrap()
      .optional()
      .meta({ description: 'other further host names; repeat it', value: 'name' }),
    trustProxy: trustProxy.unwrap().optional().meta({ description: 'other proxies to believe', value: 'address' }),
    facilitator: z
      .enum(['on', 'off'])
      .optional()
      .meta({ description: 'whether it settles for the servers of others from now on', value: 'on|off' }),
  }),
  examples: ['souk restart', 'souk restart --log-level debug'],
  async run(context) {
    const last = lastLaunchOf(context.places)
    const { host = last.host, logLevel = last.logLevel, facilitator: on, ...others } = context.options
    const facilitator = on === undefined ? last.facilitator : on === 'on'
    const launch = relaunched(context.places, { ...last, logLevel, facilitator, ...compact({ host }) }, others)
    wouldDo(context.globals, `stop ${context.places.instance} and start it on ${hostOf(launch)}:${portOf(launch)}`)
    readEngines(launch)
    const stopped = await stopDaemon(context, { graceMs: GRACE_MS, force: false })
    const { registration } = await startDaemon(context, launch)
    return {
      state: 'running' as const,
      was: stopped.how,
      url: registration.url,
      pid: registration.pid,
      version: registration.version,
      started_at: registration.started_at,
    }
  },
  view({ url, pid, version, was }, io) {
    const up = was === 'absent' ? 'is up' : 'is up again'
    io.line(`${green('✓')} souk ${version} ${up}   ${bold(url)}   pid ${pid}`)
    if (was === 'absent') io.line('  no daemon was running')
    if (was === 'crashed') io.line('  the daemon before it had ended without tidying up')
    if (was === 'killed') io.line('  the daemon before it did not end in order and was killed')
  },
})
