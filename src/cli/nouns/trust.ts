import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'

export type ReputationAnswer = WireAnswer<Api['getReputation']>
