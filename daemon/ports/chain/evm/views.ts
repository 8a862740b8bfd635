import type { Hex, Wallet } from '../../../../src/core/hex.ts'
import { gather } from './gather.ts'
import { probeAnswer, probeCall } from './queue/calldata.ts'
import type { RpcAnswer } from './rpc/endpoint.ts'
import type { Rpc } from './rpc/rpc.ts'
import { isHex } from './rpc/values.ts'

/** What a view of ours or of the token may take; behind the proxy of the real token a balance takes about 10,000. */
const VIEW_GAS = 200_000
/** Views in one question. */
const MAX_VIEWS = 100
/** What JSON-RPC nodes say where a contract reverted. */
const REVERTED_CODE = 3

type View = { readonly to: Wallet; readonly data: Hex }
/** `undefined`: the node takes no such question, and is to be asked by itself. */
type Viewed = { readonly answer: RpcAnswer | undefined }

/** Views of contracts as one question, which tells itself of which block it is. */
export function openViews(rpc: Pick<Rpc, 'readDated'>): (view: View) => Promise<RpcAnswer | undefined> {
  const viewed = gather((views: readonly View[]) => viewAll(rpc, views))
  return async (view) => (await viewed(view)).answer
}

async function viewAll(rpc: Pick<Rpc, 'readDated'>, views: readonly View[]): Promise<readonly Viewed[]> {
  const question = {
    accounts: [],
    calls: views.slice(0, MAX_VIEWS).map(({ to: target, data }) => ({ target, data, gasCap: VIEW_GAS })),
  }
  const data = probeCall(question)
  if (!data) return views.map(() => ({ answer: undefined }))
  const said = (answer: RpcAnswer) =>
    answer.ok && isHex(answer.result) ? probeAnswer(answer.result, question) : undefined
  const answer = await rpc.readDated(
    { method: 'eth_call', params: [{ data }, 'latest'] },
    (whole) => said(whole)?.block,
  )
  const results = said(answer)?.results ?? []
  return views.map((_, at) => ({ answer: results[at] && answerOf(results[at]) }))
}

/** Without a reason it may be the gas that was too little here. */
function answerOf({ ok, data }: { readonly ok: boolean; readonly data: Hex }): RpcAnswer | undefined {
  if (!ok && data === '0x') return undefined
  return ok ? { ok, result: data } : { ok, code: REVERTED_CODE, message: 'execution reverted', data }
}
