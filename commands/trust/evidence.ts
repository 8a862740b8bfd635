import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { readDocument, showDocument } from './document.ts'

const ROOT = /^0x[0-9a-f]{64}$/

export const command = defineCommand({
  name: 'trust evidence',
  summary: 'read what a score follows from, by its root',
  description: 'souk trust onchain names the roots of a wallet; a document names the one before it.',
  args: z.object({ root: z.string().meta({ description: '0x and 64 hex digits' }) }),
  options: z.object({
    check: z.boolean().default(false).meta({ description: 'recompute keccak-256; exit 11 when it differs' }),
    save: z.string().optional().meta({ description: 'write its bytes to a file', value: 'file' }),
  }),
  examples: [
    'souk trust evidence 0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'souk trust evidence 0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef --check --json',
  ],
  run(context) {
    const root = context.args.root.toLowerCase()
    if (!ROOT.test(root)) throw usage('A root is 0x and 64 hex digits.')
    return readDocument(context, { path: `/v1/reputation/evidence/${root}.json`, hash: root })
  },
  view: showDocument,
})
