import { headersAt } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { download } from '../../src/cli/files/transfer.ts'
import * as z from '../../src/cli/params.ts'
import { byteSize, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'threads download',
  summary: 'download a file of a conversation',
  description: 'The file is checked against its hash. A damaged file is deleted.',
  args: z.object({
    thread: z.string().meta({ description: 'id of the conversation' }),
    file: z.string().meta({ description: 'id of the file' }),
  }),
  options: z.object({
    output: z
      .string()
      .optional()
      .meta({ short: 'o', description: 'file or folder to write, - for stdout', value: 'file' }),
  }),
  examples: [
    'souk threads download thr_0123456789abcdef file_0123456789abcdef -o ./downloads --yes',
    'souk threads download thr_0123456789abcdef file_0123456789abcdef -o ./downloads --yes --json',
  ],
  async run(context) {
    const { thread, file } = context.args
    const session = await context.session()
    const saved = await download(context, session, {
      endpoint: 'downloadThreadFile',
      asked: { params: { id: thread, fileId: file }, headers: await headersAt(context, session, thread) },
      output: context.options.output,
      otherwise: file,
    })
    return { thread_id: thread, file_id: file, ...saved }
  },
  view({ file, size_bytes }, io) {
    if (file !== null) io.line(`${green('✓')} saved ${io.path(file)}   ${byteSize(size_bytes)}   sha-256 is right`)
  },
})
