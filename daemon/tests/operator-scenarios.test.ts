import { facilitatorScenarios } from '../../fixtures/scenarios/facilitator.ts'
import { operatorScenarios } from '../../fixtures/scenarios/operator.ts'
import { operatorKeyScenarios } from '../../fixtures/scenarios/operator-keys.ts'
import { operatorMarketScenarios } from '../../fixtures/scenarios/operator-market.ts'
import { operatorThreadScenarios } from '../../fixtures/scenarios/operator-threads.ts'
import { rulingScenarios } from '../../fixtures/scenarios/rulings.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'
import { suspensionScenarios } from '../../fixtures/scenarios/suspensions.ts'

describeScenarios('What the operator sees and switches', operatorScenarios)
describeScenarios('What the operator finds in the whole market', operatorMarketScenarios)
describeScenarios('What the operator reads and says in conversations', operatorThreadScenarios)
describeScenarios('How the operator rotates keys', operatorKeyScenarios)
describeScenarios('What the operator decides', rulingScenarios)
describeScenarios('What the servers of others ask of a facilitator', facilitatorScenarios)
describeScenarios('What a suspension takes off the market', suspensionScenarios)
