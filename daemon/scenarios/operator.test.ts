import { operatorScenarios } from '../../fixtures/scenarios/operator.ts'
import { rulingScenarios } from '../../fixtures/scenarios/rulings.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('What the operator sees and switches', operatorScenarios)
describeScenarios('What the operator decides', rulingScenarios)
