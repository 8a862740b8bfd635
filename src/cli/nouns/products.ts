import type { Product } from '../../nouns/products.ts'
import type { CommandContext } from '../command.ts'
import { type Downloaded, download } from '../files/transfer.ts'
import * as z from '../params.ts'
import type { Session } from '../session.ts'

export const productArg = z.object({ product: z.string().meta({ description: 'id of the product' }) })

/** What a product says of itself; `products create` and `edit` share it. */
export const productOptions = {
  name: z.string().optional().meta({ description: 'name', value: 'text' }),
  price: z.string().optional().meta({ description: 'your price in USDC', value: 'usd' }),
  description: z.string().optional().meta({ description: 'description', value: 'text' }),
  category: z.string().optional().meta({ description: 'category', value: 'name' }),
  upload: z.string().optional().meta({ description: 'file to sell, at most 100 MiB', value: 'file' }),
}

/** Where a download goes. */
export const outputOption = z
  .string()
  .optional()
  .meta({ short: 'o', description: 'file or folder to write, - for stdout', value: 'file' })

/** Reads a product; with the key of the account, where there is one, its own drafts too. */
export async function readProduct(session: Session, id: string): Promise<Product> {
  const key = await session.apiKey()
  return session.call('getProduct', { params: { id }, headers: key === undefined ? {} : { 'x-api-key': key } })
}

type Wanted = { readonly id: string; readonly output: string | undefined; readonly agreed?: true }

/** Downloads the file of a product that the account bought or sells, and checks its hash. */
export async function downloadProduct(
  host: Pick<CommandContext<unknown, unknown>, 'io' | 'globals'>,
  session: Session,
  { id, output, agreed }: Wanted,
): Promise<Downloaded> {
  return download(host, session, {
    endpoint: 'downloadProduct',
    asked: { params: { id } },
    output,
    otherwise: id,
    ...(agreed ? { agreed } : {}),
  })
}
