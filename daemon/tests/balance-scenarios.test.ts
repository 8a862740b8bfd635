import { balanceScenarios } from '../../fixtures/scenarios/balance.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Balance, earnings, referrals', balanceScenarios)
