// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Which evidence stood for a subject when: one publisher, and an id for each anchor, so that a repeated order does
/// nothing twice.
contract VerdictAnchors {
    struct Anchor {
        bytes32 root;
        uint64 seq;
        uint64 anchoredAt;
    }

    address public immutable publisher;
    mapping(bytes32 subject => Anchor) public latest;
    mapping(bytes32 id => bool) public done;

    event VerdictAnchored(bytes32 indexed subject, bytes32 indexed root, uint64 seq, string uri);

    error Done();
    error NotPublisher();

    constructor(address publisher_) {
        publisher = publisher_;
    }

    function anchor(bytes32 id, bytes32 subject, bytes32 root, string calldata uri) external {
        if (msg.sender != publisher) revert NotPublisher();
        if (done[id]) revert Done();
        done[id] = true;
        uint64 seq = latest[subject].seq + 1;
        latest[subject] = Anchor(root, seq, uint64(block.timestamp));
        emit VerdictAnchored(subject, root, seq, uri);
    }
}
