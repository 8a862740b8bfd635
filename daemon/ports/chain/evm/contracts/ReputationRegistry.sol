// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IIdentities {
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool);
}

/// What clients say of agents, as ERC-8004 describes it, for chains that lack the shared registry.
contract ReputationRegistry {
    struct Feedback {
        int128 value;
        uint8 valueDecimals;
        bool isRevoked;
        string tag1;
        string tag2;
    }

    /// Parallel lists, as the standard answers.
    struct Rows {
        address[] clients;
        uint64[] feedbackIndexes;
        int128[] values;
        uint8[] valueDecimals;
        string[] tag1s;
        string[] tag2s;
        bool[] revokedStatuses;
    }

    struct Filter {
        bytes32 tag1;
        bytes32 tag2;
        bool includeRevoked;
    }

    struct Sum {
        uint64 count;
        int256 total;
        uint64[19] usesOfDecimals;
    }

    int128 private constant HIGHEST = 1e38;
    uint8 private constant MOST_DECIMALS = 18;
    bytes32 private constant ANY = keccak256("");

    address private immutable IDENTITIES;
    mapping(uint256 agentId => mapping(address client => mapping(uint64 index => Feedback))) private _feedback;
    mapping(uint256 agentId => mapping(address client => uint64)) private _lastIndex;
    mapping(uint256 agentId => address[]) private _clients;
    mapping(bytes32 feedback => mapping(address responder => uint64)) private _responses;
    mapping(bytes32 feedback => address[]) private _responders;

    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    constructor(address identityRegistry) {
        require(identityRegistry != address(0), "bad identity");
        IDENTITIES = identityRegistry;
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function getIdentityRegistry() external view returns (address) {
        return IDENTITIES;
    }

    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string memory tag1,
        string memory tag2,
        string memory endpoint,
        string memory feedbackURI,
        bytes32 feedbackHash
    ) external {
        require(valueDecimals <= MOST_DECIMALS, "too many decimals");
        require(value >= -HIGHEST && value <= HIGHEST, "value too large");
        require(!IIdentities(IDENTITIES).isAuthorizedOrOwner(msg.sender, agentId), "Self-feedback not allowed");
        uint64 index = ++_lastIndex[agentId][msg.sender];
        if (index == 1) _clients[agentId].push(msg.sender);
        _feedback[agentId][msg.sender][index] = Feedback(value, valueDecimals, false, tag1, tag2);
        emit NewFeedback(
            agentId, msg.sender, index, value, valueDecimals, tag1, tag1, tag2, endpoint, feedbackURI, feedbackHash
        );
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        _requireKnown(agentId, msg.sender, feedbackIndex);
        Feedback storage given = _feedback[agentId][msg.sender][feedbackIndex];
        require(!given.isRevoked, "Already revoked");
        given.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        _requireKnown(agentId, clientAddress, feedbackIndex);
        require(bytes(responseURI).length > 0, "Empty URI");
        bytes32 key = _keyOf(agentId, clientAddress, feedbackIndex);
        if (_responses[key][msg.sender]++ == 0) _responders[key].push(msg.sender);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return _lastIndex[agentId][clientAddress];
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _clients[agentId];
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        _requireKnown(agentId, clientAddress, feedbackIndex);
        Feedback storage given = _feedback[agentId][clientAddress][feedbackIndex];
        return (given.value, given.valueDecimals, given.tag1, given.tag2, given.isRevoked);
    }

    /// The mean in 18 decimals, cut to the number of decimals that was used most often; the lowest wins a tie.
    function getSummary(uint256 agentId, address[] calldata clientAddresses, string calldata tag1, string calldata tag2)
        external
        view
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)
    {
        require(clientAddresses.length > 0, "clientAddresses required");
        Filter memory filter = Filter(keccak256(bytes(tag1)), keccak256(bytes(tag2)), false);
        Sum memory sum;
        for (uint256 i = 0; i < clientAddresses.length; i++) {
            _add(sum, agentId, clientAddresses[i], filter);
        }
        if (sum.count == 0) return (0, 0, 0);
        for (uint8 decimals = 1; decimals <= MOST_DECIMALS; decimals++) {
            if (sum.usesOfDecimals[decimals] > sum.usesOfDecimals[summaryValueDecimals]) summaryValueDecimals = decimals;
        }
        int256 mean = sum.total / int256(uint256(sum.count));
        summaryValue = int128(mean / int256(10 ** uint256(MOST_DECIMALS - summaryValueDecimals)));
        count = sum.count;
    }

    function readAllFeedback(
        uint256 agentId,
        address[] memory clientAddresses,
        string memory tag1,
        string memory tag2,
        bool includeRevoked
    )
        external
        view
        returns (
            address[] memory clients,
            uint64[] memory feedbackIndexes,
            int128[] memory values,
            uint8[] memory valueDecimals,
            string[] memory tag1s,
            string[] memory tag2s,
            bool[] memory revokedStatuses
        )
    {
        Rows memory rows = _rows(
            agentId, clientAddresses, Filter(keccak256(bytes(tag1)), keccak256(bytes(tag2)), includeRevoked)
        );
        return (
            rows.clients,
            rows.feedbackIndexes,
            rows.values,
            rows.valueDecimals,
            rows.tag1s,
            rows.tag2s,
            rows.revokedStatuses
        );
    }

    /// No client: all of them. Index 0: all of a client. No responders: all of them.
    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count) {
        if (clientAddress != address(0)) return _responsesTo(agentId, clientAddress, feedbackIndex, responders);
        address[] storage clients = _clients[agentId];
        for (uint256 i = 0; i < clients.length; i++) {
            count += _responsesTo(agentId, clients[i], 0, responders);
        }
    }

    function _responsesTo(uint256 agentId, address client, uint64 only, address[] calldata responders)
        private
        view
        returns (uint64 count)
    {
        uint64 last = only == 0 ? _lastIndex[agentId][client] : only;
        for (uint64 index = only == 0 ? 1 : only; index <= last; index++) {
            bytes32 key = _keyOf(agentId, client, index);
            address[] memory asked = responders;
            if (asked.length == 0) asked = _responders[key];
            for (uint256 i = 0; i < asked.length; i++) {
                count += _responses[key][asked[i]];
            }
        }
    }

    function _add(Sum memory sum, uint256 agentId, address client, Filter memory filter) private view {
        uint64 last = _lastIndex[agentId][client];
        for (uint64 index = 1; index <= last; index++) {
            Feedback storage given = _feedback[agentId][client][index];
            if (!_matches(given, filter)) continue;
            sum.count++;
            sum.usesOfDecimals[given.valueDecimals]++;
            sum.total += int256(given.value) * int256(10 ** uint256(MOST_DECIMALS - given.valueDecimals));
        }
    }

    function _rows(uint256 agentId, address[] memory clients, Filter memory filter)
        private
        view
        returns (Rows memory rows)
    {
        if (clients.length == 0) clients = _clients[agentId];
        uint256 size = 0;
        for (uint256 i = 0; i < clients.length; i++) {
            for (uint64 index = 1; index <= _lastIndex[agentId][clients[i]]; index++) {
                if (_matches(_feedback[agentId][clients[i]][index], filter)) size++;
            }
        }
        rows.clients = new address[](size);
        rows.feedbackIndexes = new uint64[](size);
        rows.values = new int128[](size);
        rows.valueDecimals = new uint8[](size);
        rows.tag1s = new string[](size);
        rows.tag2s = new string[](size);
        rows.revokedStatuses = new bool[](size);
        uint256 row = 0;
        for (uint256 i = 0; i < clients.length; i++) {
            for (uint64 index = 1; index <= _lastIndex[agentId][clients[i]]; index++) {
                Feedback storage given = _feedback[agentId][clients[i]][index];
                if (_matches(given, filter)) _put(rows, row++, clients[i], index, given);
            }
        }
    }

    function _put(Rows memory rows, uint256 row, address client, uint64 index, Feedback storage given) private view {
        rows.clients[row] = client;
        rows.feedbackIndexes[row] = index;
        rows.values[row] = given.value;
        rows.valueDecimals[row] = given.valueDecimals;
        rows.tag1s[row] = given.tag1;
        rows.tag2s[row] = given.tag2;
        rows.revokedStatuses[row] = given.isRevoked;
    }

    function _matches(Feedback storage given, Filter memory filter) private view returns (bool) {
        if (given.isRevoked && !filter.includeRevoked) return false;
        if (filter.tag1 != ANY && filter.tag1 != keccak256(bytes(given.tag1))) return false;
        return filter.tag2 == ANY || filter.tag2 == keccak256(bytes(given.tag2));
    }

    function _requireKnown(uint256 agentId, address client, uint64 index) private view {
        require(index > 0, "index must be > 0");
        require(index <= _lastIndex[agentId][client], "index out of bounds");
    }

    function _keyOf(uint256 agentId, address client, uint64 index) private pure returns (bytes32) {
        return keccak256(abi.encode(agentId, client, index));
    }
}
