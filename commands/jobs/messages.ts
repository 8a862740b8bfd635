import { headersAt } from '../../src/cli/account.ts'
import { defineCall } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCall({
  name: 'jobs messages',
  summary: 'show the conversation of a job',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  examples: ['souk jobs messages job_0123456789abcdef', 'souk jobs messages job_0123456789abcdef --json'],
  asks: 'getJobMessages',
  asked: async (context) => ({
    params: { id: context.args.job },
    headers: await headersAt(context, await context.session(), context.args.job),
  }),
  rows: ({ messages }) => messages,
  columns: [
    { title: 'AT', value: ({ created_at: at }) => at },
    { title: 'WHO', value: ({ author_role: role }) => role },
    { title: 'TYPE', value: ({ type }) => type },
    { title: 'TEXT', value: ({ body }) => body, flexible: true },
  ],
  view({ messages }, io) {
    for (const { created_at: at, author_role: role, body } of messages) io.line(`${at}  ${role}  ${body}`)
    if (messages.length === 0) io.note('nothing was said yet')
  },
})
