import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import { kinds } from '../../src/cli/naming/kinds.ts'
import { idOf } from '../../src/cli/naming/resolve.ts'
import { readDocument, showDocument } from '../../src/cli/nouns/document.ts'
import * as z from '../../src/cli/params.ts'

const ROOT = /^0x[0-9a-fA-F]{64}$/

export const command = defineCommand({
  name: 'trust evidence',
  summary: 'show the evidence behind a score',
  description: 'A document with many jobs links to the earlier one as `previous`.',
  args: z.object({ root: z.string().meta({ description: '`root`, or the wallet or id of the scored participant' }) }),
  options: z.object({
    check: z
      .boolean()
      .default(false)
      .meta({ description: 'recompute the keccak-256 hash; exit with code 11 if it differs' }),
    save: z.string().optional().meta({ description: 'write the file here', value: 'file' }),
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
