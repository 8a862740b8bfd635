import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import { kinds } from '../../src/cli/naming/kinds.ts'
import { idOf } from '../../src/cli/naming/resolve.ts'
import { readDocument, showDocument } from '../../src/cli/nouns/document.ts'
import * as z from '../../src/cli/params.ts'

const ROOT = /^0x[0-9a-fA-F]{64}$/

export const command = defineCommand({
  name: 'trust evidence',
  summary: 'read what a score follows from',
  description: 'A document of many jobs names the one before it as its previous.',
  args: z.object({ root: z.string().meta({ description: 'root, or the wallet or id of whom the score is' }) }),
  options: z.object({
    check: z.boolean().default(false).meta({ description: 'recompute keccak-256; exit 11 when it differs' }),
    save: z.string().optional().meta({ description: 'write its bytes to a file', value: 'file' }),
  }),
  examples: [
    'souk trust evidence 0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'souk trust evidence 0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef --check --json',
  ],
  async run(context) {
    const { root: word } = context.args
    const root = ROOT.test(word) ? word.toLowerCase() : await latestRoot(context, word)
    return readDocument(context, { endpoint: 'getEvidence', asked: { params: { root } }, hash: root })
  },
  view: showDocument,
})

async function latestRoot(context: CommandContext<unknown, unknown>, word: string): Promise<string> {
  const session = await context.session()
  const params = { wallet: await idOf({ ...context, asAdmin: false }, kinds.wallet, word) }
  const verdict = await session.call('getReputation', { params })
  // It becomes a path: what is no hash leads nowhere.
  if (verdict.evidence_root !== null && ROOT.test(verdict.evidence_root)) return verdict.evidence_root
  throw new CliError('not_found', `Nothing is known of ${word}: no job of it was counted yet.`)
}
