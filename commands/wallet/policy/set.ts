import { type CommandContext, defineCommand } from '../../../src/cli/command.ts'
import { usage } from '../../../src/cli/exit.ts'
import { noPolicy, payeeIds, showPolicy } from '../../../src/cli/nouns/policy.ts'
import { chosenWallet } from '../../../src/cli/nouns/wallets.ts'
import * as z from '../../../src/cli/params.ts'
import { wouldDo } from '../../../src/cli/session.ts'
import {
  flagOf,
  keepPolicy,
  type LimitName,
  limitNames,
  policyOf,
  type SpendPolicy,
} from '../../../src/client/spending/policy.ts'
import { formatAmount, parseAmount } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { bold, green } from '../../../src/text/text.ts'

const NONE = 'none'
const limit = (description: string) => z.string().optional().meta({ description, value: 'usd' })
const names = (description: string) => z.array(z.string()).default([]).meta({ description, value: 'name' })

const options = z.object({
  perPayment: limit('limit per payment; `none` removes a limit'),
  perCommand: limit('limit per command, in addition to --max-price'),
  perDay: limit('limit per 24 hours, over all processes'),
  perSeller: limit('limit per seller and 24 hours'),
  askAbove: limit('payments above this need approval'),
  allow: names('allow only these: seller, listing, address or instance'),
  deny: names('never pay this seller, listing, address or instance'),
  remove: names('remove a name from both lists'),
})
type Host = CommandContext<{ name?: string | undefined }, z.output<typeof options>>

export const command = defineCommand({
  name: 'wallet policy set',
  summary: 'set the spending limits of a wallet',
  description:
    'Applies to every payment of the wallet on this machine, by signature or balance, from any command and from `souk mcp`. Options that you omit stay as they are. A day is any 24 hours. A payment counts when it is signed, even without an answer; deposits count too. Approval needs a terminal or the program that runs `souk mcp`; --yes does not approve. Ids refer to the chosen instance.',
  args: z.object({ name: z.string().optional().meta({ description: 'wallet name (default: the active one)' }) }),
  options,
  examples: [
    'souk wallet policy set --per-payment 0.75 --per-day 5.00',
    'souk wallet policy set main --ask-above 0.80 --deny p_0123456789abcdef --dry-run',
    'souk wallet policy set main --per-day none --json',
  ],
  async run(context) {
    const { args, globals, io, places } = context
    const { name, address } = chosenWallet(places, args.name ?? globals.as)
    const policy = await changed(context, policyOf(places, address) ?? noPolicy)
    wouldDo(globals, `set the spend policy of ${name} in ${io.path(places.config)}/spending.json`)
    return { wallet: name, address, is_set: true, policy: keepPolicy(places, address, policy) }
  },
  view({ wallet, policy }, io) {
    io.line(`${green('✓')} the spend policy of ${bold(wallet)}`)
    showPolicy(io, policy)
  },
})

async function changed(context: Host, before: SpendPolicy): Promise<SpendPolicy> {
  const { allow, deny, remove, perPayment, perCommand, perDay, perSeller, askAbove } = context.options
  const given: Readonly<Record<LimitName, string | undefined>> = {
    per_payment: perPayment,
    per_command: perCommand,
    per_day: perDay,
    per_seller: perSeller,
    ask_above: askAbove,
  }
  const isSaid = [allow, deny, remove].some(({ length }) => length > 0)
  if (!isSaid && limitNames.every((rule) => given[rule] === undefined)) {
    throw usage('Say what to set.', {
      next: ['souk wallet policy set --per-day 5.00', 'souk wallet policy set --help'],
    })
  }
  const namer = { ...context, asAdmin: false }
  const gone = new Set(await payeeIds(namer, remove))
  const list = async (before: readonly string[], added: readonly string[]) =>
    [...new Set([...before, ...(await payeeIds(namer, added))])].filter((name) => !gone.has(name))
  const kept = Object.fromEntries(
    limitNames.map((rule) => [rule, given[rule] === undefined ? before[rule] : limitSaid(rule, given[rule])]),
  )
  return { ...compact(kept), allow: await list(before.allow, allow), deny: await list(before.deny, deny) }
}

/** @returns undefined for a limit that is lifted. @throws CliError usage for what is no amount. */
function limitSaid(rule: LimitName, text: string): string | undefined {
  if (text === NONE) return undefined
  const amount = parseAmount(text)
  if (amount !== undefined) return formatAmount(amount)
  throw usage(`${flagOf(rule)} must be an amount such as 5.00, or ${NONE}; you gave "${text}".`)
}
