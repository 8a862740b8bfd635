import { headersAt } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { sending } from '../../src/cli/files/transfer.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { byteSize, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'threads attach',
  summary: 'attach files to a conversation',
  description: 'At most 10 MiB each. Disputes can cite these files as evidence.',
  args: z.object({
    thread: z.string().meta({ description: 'id of the conversation' }),
    files: z.array(z.string()).meta({ description: 'files to attach' }),
  }),
  options: z.object({
    message: z.string().optional().meta({ short: 'm', description: 'caption of the first file', value: 'text' }),
  }),
  examples: [
    'souk threads attach thr_0123456789abcdef book.pdf',
    'souk threads attach thr_0123456789abcdef book.pdf -m "As agreed" --json',
  ],
  async run(context) {
    const { thread, files } = context.args
    if (files.length === 0) throw usage('Name a file to attach.', { next: [`souk threads attach ${thread} FILE`] })
    const session = await context.session()
    const headers = await headersAt(context, session, thread)
    const attached = []
    for (const [at, path] of files.entries()) {
      const sent = sending(context, path)
      const body = compact({ message: at === 0 ? context.options.message : undefined })
      attached.push(
        await session
          .call('uploadThreadFile', { params: { id: thread }, body, headers, file: sent.file })
          .finally(() => sent.done()),
      )
    }
    return { thread_id: thread, files: attached }
  },
  rows: ({ files }) => files,
  view({ files }, io) {
    for (const { file_id, name, size_bytes } of files) {
      io.line(`${green('✓')} attached ${file_id}   ${name}   ${byteSize(size_bytes)}`)
    }
  },
})
