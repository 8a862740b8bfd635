// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Many calls in one transaction, each with its own gas cap, so that one that burns all it gets fails alone.
contract CappedBatch {
    /// Bytes of an answer that are kept: enough for a revert text, too few to make the batch pay for a long one.
    uint256 private constant KEPT_BYTES = 512;
    /// What is needed around a call and for the calls after it to begin.
    uint256 private constant RESERVE_GAS = 10_000;

    struct Call {
        address target;
        bool allowFailure;
        uint256 gasCap;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    error CallFailed(uint256 index, bytes reason);
    /// The transaction holds too little gas to give a call its whole cap: none may fail for its neighbours' sake.
    error TooLittleGas(uint256 index);

    function aggregate(Call[] calldata calls) external returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            Call calldata call = calls[i];
            // A call gets at most 63 of 64 parts of what is left.
            if ((gasleft() * 63) / 64 < call.gasCap + RESERVE_GAS) revert TooLittleGas(i);
            (bool success, bytes memory answer) = _call(call.target, call.gasCap, call.callData);
            if (!success && !call.allowFailure) revert CallFailed(i, answer);
            results[i] = Result(success, answer);
        }
    }

    function _call(address target, uint256 gasCap, bytes memory data)
        private
        returns (bool success, bytes memory answer)
    {
        answer = new bytes(KEPT_BYTES);
        assembly ("memory-safe") {
            success := call(gasCap, target, 0, add(data, 0x20), mload(data), 0, 0)
            let size := returndatasize()
            if gt(size, KEPT_BYTES) { size := KEPT_BYTES }
            mstore(answer, size)
            returndatacopy(add(answer, 0x20), 0, size)
        }
    }
}
