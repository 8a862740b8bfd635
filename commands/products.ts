import { andJson, type CommandContext, defineCall, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../src/cli/files/document.ts'
import { exampleOf, exampleOption } from '../src/cli/files/examples.ts'
import { agreedTarget, type Downloaded, download, sending, showDownloaded } from '../src/cli/files/transfer.ts'
import { listCommand, showNoun } from '../src/cli/nouns/lists.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import type { SentBody } from '../src/client/asked.ts'
import { formatAmount } from '../src/core/money.ts'
import { compact } from '../src/core/record.ts'
import { rowsOf } from '../src/nouns/noun.ts'
import { fileWords, type Product, product } from '../src/nouns/products.ts'
import { bold, byteSize, cyan, green } from '../src/text/text.ts'

export const productArg = z.object({ product: z.string().meta({ description: 'id of the product' }) })

export const productOptions = {
  name: z.text({ description: 'name', value: 'text' }),
  price: z.text({ description: 'your price in USDC', value: 'usd' }),
  description: z.text({ description: 'description', value: 'text' }),
  category: z.text({ description: 'category', value: 'name' }),
  upload: z.text({ description: 'file to sell, at most 100 MiB', value: 'file' }),
}

export const outputOption = z.text({ short: 'o', description: 'file or folder to write, - for stdout', value: 'file' })

/** Reads a product. With an API key, the caller's own drafts can be read too. */
export async function readProduct(session: Session, id: string): Promise<Product> {
  const key = await session.apiKey()
  return session.call('getProduct', { params: { id }, headers: key === undefined ? {} : { 'x-api-key': key } })
}

/** Downloads a product that the caller bought or owns, and checks its hash. */
export async function downloadProduct(
  host: Pick<CommandContext<unknown, unknown>, 'io' | 'globals'>,
  session: Session,
  { id, output, agreed }: { readonly id: string; readonly output: string | undefined; readonly agreed?: true },
): Promise<Downloaded> {
  return download(host, session, {
    endpoint: 'downloadProduct',
    asked: { params: { id } },
    output,
    otherwise: id,
    ...(agreed ? { agreed } : {}),
  })
}

export const productsBuy = defineCommand({
  name: 'products buy',
  summary: 'buy a product; download it with -o',
  pays: 'purchaseProduct',
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
    if (saved) io.line(`  saved     ${io.path(saved.file ?? '-')}   ${byteSize(saved.size_bytes)}   SHA-256 matches`)
    else io.note(`  next      ${cyan(io.hint(`souk products download ${product_id}`))}   ${file.name}`)
  },
})

type Context = Pick<CommandContext<unknown, { readonly output?: string | undefined }>, 'io' | 'globals' | 'options'>

/** Path for the product's file, checked before paying; undefined without `--output`. */
async function targetOf(host: Context, session: Session, id: string): Promise<string | undefined> {
  const { output } = host.options
  if (output === undefined) return undefined
  const { file } = await readProduct(session, id)
  return agreedTarget(host, output, file?.name ?? id)
}

export const productsCreate = defineCommand({
  name: 'products create',
  summary: 'create a product: sell a file',
  description: 'Without --upload it is a draft. Put it up for sale with `souk products edit ID --upload FILE`.',
  options: z.object({
    file: z.text({ short: 'f', description: `${DOCUMENT} of the product fields, - for stdin`, value: 'file' }),
    example: exampleOption,
    ...productOptions,
  }),
  examples: [
    'souk products create --example',
    'souk products create --name "A book" --price 5.00 --upload book.pdf',
    'souk products create --name "A map" --price 0.50 --category maps --json',
  ],
  async run(context) {
    const { file, example, upload, ...said } = context.options
    if (example) return { example: exampleOf('product').trimEnd().split('\n') }
    const given = file === undefined ? {} : await readObjectFile(context.io, file, 'the product')
    const body: Readonly<Record<string, unknown>> = { ...given, ...compact(said) }
    if (body['name'] === undefined || body['price'] === undefined) throw usage('A product needs --name and --price.')
    const session = await context.session()
    const sent = upload === undefined ? undefined : sending(context, upload)
    try {
      return await session.call('createProduct', { body: unjudged<SentBody<'createProduct'>>(body), file: sent?.file })
    } finally {
      sent?.done()
    }
  },
  view(product, io) {
    if ('example' in product) {
      for (const line of product.example) io.line(line)
      return
    }
    const state = product.status === 'active' ? 'for sale' : 'is a draft'
    io.line(`${green('✓')} ${bold(product.id)} ${state}   ${product.name}   you get $${product.provider_net_price}`)
    io.line(`  file      ${fileWords(product)}`)
    const next = product.file === null ? `edit ${product.id} --upload FILE` : `view ${product.id}`
    io.note(`  next      ${cyan(io.hint(`souk products ${next}`))}`)
  },
})

export const productsDelete = defineCall({
  name: 'products delete',
  summary: 'delete a product; buyers keep their files',
  description: 'Asks for confirmation; skip it with --yes.',
  args: productArg,
  examples: andJson('souk products delete prod_0123456789abcdef --yes'),
  asks: 'deleteProduct',
  confirms: ({ args }) => `Delete ${args.product}? It cannot be sold again.`,
  view: ({ product_id }, io) => io.line(`${green('✓')} ${product_id} deleted`),
})

export const productsDownload = defineCommand({
  name: 'products download',
  summary: 'download a product that you bought or sell',
  description: 'The file is checked against its hash. A damaged file is deleted.',
  args: productArg,
  options: z.object({ output: outputOption }),
  examples: andJson('souk products download prod_0123456789abcdef -o ./downloads --yes'),
  async run(context) {
    const { product: id } = context.args
    const { output } = context.options
    const session = await context.session()
    return { product_id: id, ...(await downloadProduct(context, session, { id, output })) }
  },
  view: showDownloaded,
})

export const productsEdit = defineCommand({
  name: 'products edit',
  summary: 'edit a product, or put a draft up for sale',
  description: 'The file of a product for sale cannot be changed.',
  args: productArg,
  options: z.object({
    ...productOptions,
    status: z.choice(['active', 'inactive'], { description: 'active: for sale; inactive: withdrawn' }),
  }),
  examples: [
    'souk products edit prod_0123456789abcdef --price 6.00',
    'souk products edit prod_0123456789abcdef --status inactive --json',
  ],
  prints: 'updateProduct',
  async run(context) {
    const { upload, ...changes } = context.options
    const body = compact(changes)
    if (upload === undefined && Object.keys(body).length === 0)
      throw usage('Give at least one change, such as --price or --upload.')
    const session = await context.session()
    const sent = upload === undefined ? undefined : sending(context, upload)
    try {
      return await session.call('updateProduct', { params: { id: context.args.product }, body, file: sent?.file })
    } finally {
      sent?.done()
    }
  },
  view: (product, io) =>
    io.line(
      `${green('✓')} ${product.id} ${product.status}   ${product.name}   buyers pay $${product.agent_price}   ${fileWords(product)}`,
    ),
})

export const productsList = listCommand(product, {
  name: 'products list',
  summary: 'browse digital products',
  list: 'listProducts',
  options: {
    search: z.text({ short: 's', description: 'search words', value: 'words' }),
    category: z.text({ description: 'only of this category', value: 'name' }),
    provider: z.text({ description: 'only of this provider', value: 'id' }),
    mine: z.flag({ description: 'your own products, including drafts and withdrawn ones' }),
  },
  examples: [
    'souk products list',
    'souk products list -s book --json --fields id,agent_price',
    'souk products list --mine',
  ],
  note(page, io) {
    const [first] = rowsOf<Product>(page)
    if (first) io.note(`  details: ${io.hint(`souk products view ${first.id}`)}`)
  },
})

export const productsView = defineCommand({
  name: 'products view',
  summary: 'show a product: description, price, file',
  args: productArg,
  examples: ['souk products view prod_0123456789abcdef', 'souk products view prod_0123456789abcdef --json'],
  prints: 'getProduct',
  run: async (context) => readProduct(await context.session(), context.args.product),
  view: (row, io) => showNoun(product, row, io),
})
