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
    /// The calls are not of one size.
    error Uneven();

    function aggregate(Call[] calldata calls) external returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            Call calldata call = calls[i];
            _requireGas(i, call.gasCap);
            (bool success, bytes memory answer) = _call(call.target, call.gasCap, call.callData);
            if (!success && !call.allowFailure) revert CallFailed(i, answer);
            results[i] = Result(success, answer);
        }
    }

    /// Calls of one contract and of one size, back to back, of which each may fail. What one returns that succeeds is
    /// not kept, and all of these share one result: a transfer takes little more here than the token takes for it.
    function aggregateEven(address target, uint256 gasCap, uint256 size, bytes calldata calls)
        external
        returns (Result[] memory)
    {
        if (size == 0 || calls.length % size != 0) revert Uneven();
        uint256 done;
        // Nothing is in memory yet, and nothing comes after it. From 0x80 the answer as it is encoded: where the list
        // is, its length, from 0xc0 the place of each result, the shared one, those that failed.
        assembly ("memory-safe") {
            let place := 0xc0
            let shared := mul(0x20, div(calls.length, size))
            mstore(0x80, 0x20)
            mstore(0xa0, div(calls.length, size))
            let end := add(place, shared)
            mstore(end, 1)
            mstore(add(end, 0x20), 0x40)
            mstore(add(end, 0x40), 0)
            end := add(end, 0x60)
            for {} lt(done, calls.length) { done := add(done, size) } {
                // As `_requireGas` does.
                if lt(div(mul(gas(), 63), 64), add(gasCap, RESERVE_GAS)) { break }
                mstore(place, shared)
                calldatacopy(end, add(calls.offset, done), size)
                if iszero(call(gasCap, target, 0, end, size, 0, 0)) {
                    mstore(place, sub(end, 0xc0))
                    mstore(end, 0)
                    mstore(add(end, 0x20), 0x40)
                    let kept := returndatasize()
                    if gt(kept, KEPT_BYTES) { kept := KEPT_BYTES }
                    mstore(add(end, 0x40), kept)
                    end := add(end, 0x60)
                    returndatacopy(end, 0, kept)
                    mstore(add(end, kept), 0)
                    end := add(end, and(add(kept, 0x1f), not(0x1f)))
                }
                place := add(place, 0x20)
            }
            if eq(done, calls.length) { return(0x80, sub(end, 0x80)) }
        }
        revert TooLittleGas(done / size);
    }

    function _requireGas(uint256 index, uint256 gasCap) private view {
        // A call gets at most 63 of 64 parts of what is left.
        if ((gasleft() * 63) / 64 < gasCap + RESERVE_GAS) revert TooLittleGas(index);
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
