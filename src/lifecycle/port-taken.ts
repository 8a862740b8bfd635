import { CliError } from '../cli/exit.ts'
import { PORT_MAX } from '../cli/public.ts'
import { probe, registeredDaemon } from '../client/discover.ts'
import type { StartHost } from './join.ts'
import { hostOf, type Launch, portOf } from './launch.ts'
import { type PortOwner, portOwner } from './port-owner.ts'
import { instancesBeside } from './stop.ts'

/** Says who holds the port of a launch, and the ways out. */
export async function portTaken(host: StartHost, launch: Launch): Promise<CliError> {
  const port = portOf(launch)
  const owner = portOwner(port)
  const next = ['souk up --port 0', `souk up --port ${port < PORT_MAX ? port + 1 : port - 1}`]
  const beside = instancesBeside(host).find((one) => {
    const found = registeredDaemon(one)
    return 'registration' in found && found.registration.pid === owner?.pid
  })
  if (beside !== undefined) {
    return new CliError('failure', `Port ${port} is used by the souk instance "${beside.instance}"${named(owner)}.`, {
      next: [...next, `souk status --instance ${beside.instance}`],
    })
  }
  const instance = await probe({ url: urlOf(launch) })
  if (instance !== undefined) {
    return new CliError('failure', `Port ${port} is used by another souk daemon${named(owner)}.`, {
      facts: [`its instance id is ${instance}; it is not the one of this instance`],
      next: [...next, `souk status --base-url ${urlOf(launch)}`],
    })
  }
  return new CliError('failure', `Port ${port} is used by another program${named(owner)}.`, {
    facts: [
      'it is not a souk daemon (its /health names no instance)',
      ...(owner === undefined ? ['whose it is cannot be seen from here'] : []),
    ],
    next,
  })
}

function named(owner: PortOwner | undefined): string {
  if (owner === undefined) return ''
  const started = owner.startedMs === undefined ? '' : `, started ${new Date(owner.startedMs).toISOString()}`
  return `: ${owner.program} (pid ${owner.pid}${started})`
}

function urlOf(launch: Launch): string {
  const port = portOf(launch)
  const host = hostOf(launch)
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
