import { usage } from '../cli/exit.ts'
import { noFreeRead, waitForJob } from '../cli/nouns/jobs/jobs.ts'
import { openSession, type SessionHost } from '../cli/session.ts'
import type { ToolArguments } from './call.ts'

const DEFAULT_WAIT_S = 60
const WAIT_S_MAX = 600
const MS_PER_SECOND = 1_000
const JOB = /^job_[0-9a-f]{16}$/

/** The only tool that is not an endpoint. Waits for a job and reports progress. */
export const waitTool = {
  name: 'wait_for_job',
  description: 'wait until a job ends, and read it; never pays. Clients that ask for progress receive it.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      id: { type: 'string', description: 'the job' },
      seconds: {
        type: 'integer',
        minimum: 1,
        maximum: WAIT_S_MAX,
        description: `longest wait in seconds (default: ${DEFAULT_WAIT_S})`,
      },
    },
    required: ['id'],
    additionalProperties: false,
  },
  annotations: {
    title: 'wait until a job ends',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  },
}

/** Waits for a job. @throws CliError `usage` for an invalid argument, `payment` if reading the job would cost money */
export async function waitForEnd(host: SessionHost, { id, seconds = DEFAULT_WAIT_S, ...rest }: ToolArguments) {
  const [stranger] = Object.keys(rest)
  if (stranger !== undefined) throw usage(`${waitTool.name} has no argument ${stranger}.`)
  if (typeof id !== 'string' || !JOB.test(id)) throw usage('id must be a job id, such as job_0123456789abcdef.')
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 1 || seconds > WAIT_S_MAX) {
    throw usage(`seconds must be a whole number from 1 to ${WAIT_S_MAX}.`)
  }
  const waiting = { ...host, globals: { ...host.globals, wait: seconds * MS_PER_SECOND } }
  const waited = await waitForJob(waiting, await openSession(host), id)
  if (waited.end === 'unreadable') throw noFreeRead(id)
  return { over: waited.end === 'over', job: waited.job }
}
