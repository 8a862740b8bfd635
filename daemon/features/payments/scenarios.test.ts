import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { balanceScenarios } from './scenarios.testkit.ts'

describeScenarios('Balance, earnings, referrals', balanceScenarios)
