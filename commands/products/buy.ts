import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { agreedTarget } from '../../src/cli/files/transfer.ts'
import { downloadProduct, outputOption, productArg, readProduct } from '../../src/cli/nouns/products.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { formatAmount } from '../../src/core/money.ts'
import { bold, byteSize, cyan, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'products buy',
  summary: 'buy a product; download it with -o',
  args: productArg,
  options: z.object({ output: outputOption }),
  examples: [
    'souk products buy prod_0123456789abcdef --max-price 10',
    'souk products buy prod_0123456789abcdef --max-price 10 -o ./downloads --yes --json',
  ],
  async run(context) {
    const session = await context.session()
    const { product: id } = context.args
    const output = await targetOf(context, session, id)
    const progress = context.io.progress(`buying ${id}`)
    const { answer: bought, payment } = await pay(context, session, {
      endpoint: 'purchaseProduct',
      asked: { params: { id }, body: {} },
      stated: ({ amount }) => amount,
    }).finally(() => progress.stop())
    return {
      ...bought,
      payment: { ...bought.payment, paid: formatAmount(payment.amount) },
      saved: output === undefined ? null : await downloadProduct(context, session, { id, output, agreed: true }),
    }
  },
  view({ payment, receipt_id, product_name, product_id, file, saved }, io) {
    io.line(`${green('✓')} paid ${bold(`$${payment.paid}`)}   receipt ${receipt_id}   ${product_name}`)
    if (saved) io.line(`  saved     ${io.path(saved.file ?? '-')}   ${byteSize(saved.size_bytes)}   sha-256 is right`)
    else io.note(`  next      ${cyan(io.hint(`souk products download ${product_id}`))}   ${file.name}`)
  },
})

type Host = Pick<CommandContext<unknown, { readonly output?: string | undefined }>, 'io' | 'globals' | 'options'>

/** Nothing is paid before it is known where the file may go. */
async function targetOf(host: Host, session: Session, id: string): Promise<string | undefined> {
  const { output } = host.options
  if (output === undefined) return undefined
  const { file } = await readProduct(session, id)
  return agreedTarget(host, output, file?.name ?? id)
}
