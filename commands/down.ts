import { defineCommand } from '../src/cli/command.ts'
import type { Io } from '../src/cli/io.ts'
import * as z from '../src/cli/params.ts'
import { Duration } from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { GRACE_MS, instancesBeside, type Stopped, stopDaemon } from '../src/lifecycle/stop.ts'
import { green, yellow } from '../src/text/text.ts'

export const command = defineCommand({
  name: 'down',
  heading: 'Daemon',
  summary: 'stop the local daemon; kill it if it does not stop in time',
  options: z.object({
    all: z.flag({ description: 'all instances on this machine' }),
    force: z.flag({ description: 'kill immediately (SIGKILL)' }),
    grace: Duration.default(GRACE_MS).meta({ description: 'wait before killing the daemon', value: 'duration' }),
  }),
  examples: ['souk down', 'souk down --grace 30s', 'souk down --all'],
  async run({ options, globals, places, system, io }) {
    const choice = { graceMs: options.grace, force: options.force }
    const instances = options.all ? instancesBeside({ places, system }) : [places]
    wouldDo(globals, `stop ${instances.map(({ instance }) => instance).join(', ')}`)
    const results = []
    for (const at of instances) {
      results.push({ instance: at.instance, ...(await stopDaemon({ places: at, system, io }, choice)) })
    }
    return { state: 'stopped' as const, instances: results }
  },
  view({ instances }, io) {
    if (instances.length === 0) io.line('no daemon was running')
    for (const result of instances) showStopped(result, instances.length > 1, io)
  },
})

function showStopped(
  { instance, how, pid, url, port_free }: Stopped & { instance: string },
  named: boolean,
  io: Io,
): void {
  const name = named ? `${instance}: ` : ''
  if (how === 'absent') io.line(`${green('✓')} ${name}no daemon was running`)
  else if (how === 'crashed') io.line(`${yellow('!')} ${name}pid ${pid} had crashed; its registration was removed`)
  else io.line(`${green('✓')} ${name}stopped   pid ${pid}   ${how === 'killed' ? 'by SIGKILL' : 'cleanly'}`)
  if (port_free === false) io.warn(`${yellow('!')} ${url} is still in use by another program`)
}
