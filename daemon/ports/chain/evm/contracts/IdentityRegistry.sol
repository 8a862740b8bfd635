// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// Identities of agents as ERC-8004 describes them, for chains that lack the shared registry. The first agent id is 0.
contract IdentityRegistry is ERC721URIStorage, EIP712 {
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    bytes32 private constant WALLET_TYPEHASH =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
    uint256 private constant LONGEST_DEADLINE = 5 minutes;
    string private constant WALLET_KEY = "agentWallet";
    bytes32 private constant WALLET_KEY_HASH = keccak256(bytes(WALLET_KEY));

    /// Who may register for others: test chains give identities away.
    address public registrar;
    uint256 private _nextId;
    mapping(uint256 agentId => mapping(string key => bytes)) private _metadata;

    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);
    event MetadataSet(
        uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue
    );

    constructor(address registrar_) ERC721("AgentIdentity", "AGENT") EIP712("ERC8004IdentityRegistry", "1") {
        registrar = registrar_;
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function register() external returns (uint256 agentId) {
        return _register(msg.sender, "");
    }

    function register(string memory agentURI) external returns (uint256 agentId) {
        return _register(msg.sender, agentURI);
    }

    function register(string memory agentURI, MetadataEntry[] memory metadata) external returns (uint256 agentId) {
        agentId = _register(msg.sender, agentURI);
        for (uint256 i = 0; i < metadata.length; i++) {
            _requireFree(metadata[i].metadataKey);
            _set(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
    }

    /// Not in the standard.
    function registerFor(address wallet) external returns (uint256 agentId) {
        require(msg.sender == registrar, "Not authorized");
        return _register(wallet, "");
    }

    /// Not in the standard.
    function setRegistrar(address registrar_) external {
        require(msg.sender == registrar, "Not authorized");
        registrar = registrar_;
    }

    function setAgentURI(uint256 agentId, string calldata newURI) external {
        _requireAuthorized(agentId);
        _setTokenURI(agentId, newURI);
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    function getMetadata(uint256 agentId, string memory metadataKey) external view returns (bytes memory) {
        return _metadata[agentId][metadataKey];
    }

    function setMetadata(uint256 agentId, string memory metadataKey, bytes memory metadataValue) external {
        _requireAuthorized(agentId);
        _requireFree(metadataKey);
        _set(agentId, metadataKey, metadataValue);
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        return address(bytes20(_metadata[agentId][WALLET_KEY]));
    }

    /// The new wallet agrees by its signature, whoever sends it.
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature) external {
        _requireAuthorized(agentId);
        require(newWallet != address(0), "bad wallet");
        require(block.timestamp <= deadline, "expired");
        require(deadline <= block.timestamp + LONGEST_DEADLINE, "deadline too far");
        bytes32 said = keccak256(abi.encode(WALLET_TYPEHASH, agentId, newWallet, ownerOf(agentId), deadline));
        require(
            SignatureChecker.isValidSignatureNow(newWallet, _hashTypedDataV4(said), signature), "invalid wallet sig"
        );
        _set(agentId, WALLET_KEY, abi.encodePacked(newWallet));
    }

    function unsetAgentWallet(uint256 agentId) external {
        _requireAuthorized(agentId);
        _set(agentId, WALLET_KEY, "");
    }

    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return _isAuthorized(_requireOwned(agentId), spender, agentId);
    }

    function _register(address wallet, string memory agentURI) private returns (uint256 agentId) {
        agentId = _nextId++;
        _set(agentId, WALLET_KEY, abi.encodePacked(wallet));
        _safeMint(wallet, agentId);
        _setTokenURI(agentId, agentURI);
        emit Registered(agentId, agentURI, wallet);
    }

    function _set(uint256 agentId, string memory key, bytes memory value) private {
        _metadata[agentId][key] = value;
        emit MetadataSet(agentId, key, key, value);
    }

    /// A sold identity is not paid into its seller's wallet.
    function _update(address to, uint256 agentId, address auth) internal override returns (address from) {
        from = super._update(to, agentId, auth);
        if (from != address(0) && to != address(0)) _set(agentId, WALLET_KEY, "");
    }

    function _requireAuthorized(uint256 agentId) private view {
        require(_isAuthorized(_requireOwned(agentId), msg.sender, agentId), "Not authorized");
    }

    function _requireFree(string memory key) private pure {
        require(keccak256(bytes(key)) != WALLET_KEY_HASH, "reserved key");
    }
}
